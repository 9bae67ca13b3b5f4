/** What doctor checks besides lookups (clock, limits and state hook), and how to fix a target without answers. */
import { endpointNames } from '../../schemas/endpoints.ts';
import type { Check } from '../../schemas/generated/types.ts';
import { header, type Answer } from '../answer.ts';
import type { Known } from '../known.ts';
import type { StateHook } from '../rules/scenario-context.ts';

/** What came of a check. `fix` says how to fix a problem. */
export type Finding = Pick<Check, 'outcome' | 'words' | 'fix'>;

export const ok = (words: string): Finding => ({ outcome: 'ok', words });
export const problem = (words: string, fix: string): Finding => ({ outcome: 'problem', words, fix });
export const unknown = (words: string): Finding => ({ outcome: 'unknown', words });

const CLOCK_TOLERANCE_MS = 10_000;

/** Both clocks must agree: expiry of keys and `executedAt` depend on them. Date has whole seconds. */
export function judgeClock(answers: readonly Answer[]): Finding {
  const differences = answers.flatMap((answer) => {
    const date = Date.parse(header(answer, 'date') ?? '');
    if (Number.isNaN(date) || header(answer, 'age') !== undefined) return [];
    return [Math.max(0, date - answer.receivedAt) + Math.min(0, date + 999 - answer.sentAt)];
  });
  const [least] = differences.toSorted((a, b) => Math.abs(a) - Math.abs(b));
  if (least === undefined) return unknown('no answer has a valid Date header');
  if (least === 0) return ok('no difference');
  const words = `${(Math.abs(least) / 1000).toFixed(1)} s ${least > 0 ? 'ahead of' : 'behind'} the clock of this machine`;
  const fix = 'Set the clock of the target or of this machine. Expiry of keys and executedAt depend on both.';
  return Math.abs(least) <= CLOCK_TOLERANCE_MS ? ok(words) : problem(words, fix);
}

const NO_LIMITS =
  'the fixture states no limits, so a run must find them, which takes longer. Example: "limits": { "user-status": { "failedLookups": 60, "windowSeconds": 60 } }';

const NO_SCOPE =
  '; if each key of the partner has its own limit, state "scope": "key": without it, a run spares them at its end';

/** The few lookups of doctor should stay far below any limit. A run can start, and waits. */
export function judgeLimits(answers: readonly Answer[], { limits, callerKeys }: Known): Finding {
  const limited = answers.filter(({ status }) => status === 429);
  const stated = endpointNames.filter((endpoint) => Object.hasOwn(limits, endpoint));
  const isOpen = limits.scope === undefined && callerKeys.length > 1;
  if (limited.length === 0)
    return ok(
      `no 429; ${stated.length === 0 ? NO_LIMITS : `limits are stated for ${stated.join(' and ')}${isOpen ? NO_SCOPE : ''}`}`,
    );
  const wait = limited.map((answer) => header(answer, 'retry-after')).find((value) => value !== undefined);
  const retryAfter = wait === undefined ? 'without Retry-After' : `Retry-After: ${wait}`;
  return unknown(`${limited.length} of ${answers.length} answers are 429, ${retryAfter}; a run waits for it`);
}

/** Checks that the state hook works. Asks it to undo a change that was never made, so nothing changes. */
export async function checkHook(hook: StateHook, { pending, callerKeys }: Known): Promise<Finding> {
  const [deposit] = pending;
  const key = callerKeys.at(-1);
  if (deposit === undefined && key === undefined)
    return unknown('not checked because the fixture has no pending deposit and no active key');
  try {
    await (deposit === undefined
      ? hook.change('teardown', 'key revoked', { key: key?.key })
      : hook.change('teardown', 'deposit executed', { reference_id: deposit.reference_id }));
    return ok('accepts a teardown');
  } catch (error) {
    const { message, status = 0 } = error as Error & { readonly status?: number };
    // A hook may refuse to undo a change that was never made. These statuses mean that there is no hook.
    return status >= 400 && ![401, 403, 404, 405].includes(status)
      ? unknown(`${message}, but nothing had been set up`)
      : problem(
          message,
          'Give a URL that accepts POST { "state": …, "params": …, "action": "setup" or "teardown" } and answers 2xx when done.',
        );
  }
}

const url = 'Correct the URL: /api/ib/user-status and /api/ib/deposit-check are appended to it';

/** How to fix a target that cannot be checked, by a pattern of what came. The first that fits counts. */
const fixes: Readonly<Record<string, string>> = {
  proxy: 'Correct HTTP_PROXY or HTTPS_PROXY, or name the host in NO_PROXY to go without a proxy.',
  'client certificate':
    'Give a certificate that the target accepts with --cert, and its key with --cert-key.',
  'does not resolve':
    'Correct the host in the URL, or check why this machine cannot resolve it (DNS, VPN, hosts file).',
  'was refused|no route|cannot be reached':
    'Start the server, correct the host and port of the URL, or open the port (firewall, container).',
  'plain HTTP': 'Use http://, or the port that serves HTTPS.',
  'not valid yet': 'Set the clock that is wrong, or skip the check with --insecure.',
  'TLS version|HTTP/2':
    'Let the target accept HTTP/1.1, and TLS 1.2 or 1.3, or put a proxy before it that does.',
  'expired|another name':
    'Renew the certificate, use the host name it is issued for, or skip the check with --insecure.',
  certificate: 'Give the certificate of its authority with --ca, or skip the check with --insecure.',
  'redirect to https:':
    'Redirects are never followed. Use the https URL it redirects to, or the URL behind the login page.',
  redirect: 'Redirects are never followed. Use the URL of the service itself, behind any login page.',
  'web page': `${url}. If a proxy answers, give the header it needs with --header.`,
  '404': `${url}. It may contain a path, such as https://api.example.com/gateway.`,
};

/**
 * @param words what came, or why nothing came
 * @returns how to fix it
 */
export function fixFor(words: string, { protocol }: URL): string {
  const [, fix] = Object.entries(fixes).find(([pattern]) => new RegExp(pattern).test(words)) ?? [];
  const orTls = protocol === 'http:' ? ' and whether it needs https://' : '';
  return (
    fix ??
    `Check the port${orTls}, and that no firewall blocks it. --wait waits for a target that starts, --timeout longer for an answer.`
  );
}
