import type { Check, Fixture, FixtureApiKey, FixtureUser } from '../../schemas/generated/types.ts';
import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import { header, isHtmlPage, summary, type Answer } from '../answer.ts';
import { expectError, expectDeposit, fieldsOf, expectMember, expectNotMember } from '../expectations.ts';
import type { Known } from '../known.ts';
import { depositCheck, userStatus, type Changes, type Request } from '../request.ts';
import { readTimestamp, sameInstant } from '../timestamp.ts';
import { failed, pass, type Expectation } from '../verdict.ts';

/** The result of a check. `fix` says how to fix a problem. */
export type CheckResult = Pick<Check, 'outcome' | 'words' | 'fix'>;

export const ok = (words: string): CheckResult => ({ outcome: 'ok', words });
export const problem = (words: string, fix: string): CheckResult => ({ outcome: 'problem', words, fix });
export const unknown = (words: string): CheckResult => ({ outcome: 'unknown', words });

/** By a pattern of the error; the first that fits counts. */
const fixes: Readonly<Record<string, string>> = {
  'does not resolve':
    'Correct the host in the URL, or check why this machine cannot resolve it (DNS, VPN, hosts file).',
  'refused|no route|cannot be reached':
    'Start the server, correct the host and port of the URL, or open the port (firewall, container).',
  'plain HTTP': 'Use http://, or the port that serves HTTPS.',
  'expired|another name':
    'Renew the certificate, use the host name it is issued for, or skip the check with --insecure.',
  certificate: 'Give the certificate of its authority with --ca, or skip the check with --insecure.',
};

/** How to fix a target that gives no answer. */
export function fixFor(words: string, { protocol }: URL): string {
  const [, fix] = Object.entries(fixes).find(([pattern]) => new RegExp(pattern).test(words)) ?? [];
  const orTls = protocol === 'http:' ? ' and whether it needs https://' : '';
  return (
    fix ?? `Check the port${orTls}, and that no firewall blocks it. --timeout waits longer for an answer.`
  );
}

const prefix = 'Correct the URL: /api/ib/user-status and /api/ib/deposit-check are appended to it';

/** The problem if an answer comes from another service; else undefined. */
export function otherService(answer: Answer): CheckResult | undefined {
  const { status } = answer;
  if (status >= 300 && status < 400) {
    const location = header(answer, 'location') ?? 'nowhere';
    return problem(
      `${status}, a redirect to ${location}`,
      location.startsWith('https:')
        ? 'Redirects are never followed. Use the https URL it redirects to, or the URL behind the login page.'
        : 'Redirects are never followed. Use the URL of the service itself, behind any login page.',
    );
  }
  if (/\bhtml\b/i.test(header(answer, 'content-type') ?? '') || isHtmlPage(answer))
    return problem(
      `${status} with an HTML page: a website or a proxy`,
      `${prefix}. If a proxy answers, give the header it needs with --header.`,
    );
  if (status === 404)
    return problem(
      '404: there is nothing at this path',
      `${prefix}. It may contain a path, such as https://api.example.com/gateway.`,
    );
  if (status === 403 || status === 407 || status === 511)
    return problem(
      `${status}: a proxy in front of the service refused the request`,
      'Give the header it needs with --header, or run from a network it allows.',
    );
  return undefined;
}

/** Checks that a lookup without a key gets the 401 of the interface. */
export function judgeKeyless(endpoint: Endpoint, answer: Answer): CheckResult {
  const { status } = answer;
  const otherFinding = otherService(answer);
  if (otherFinding !== undefined) return otherFinding;
  if (status >= 500)
    return problem(
      `${status}: the server has an error`,
      'Check the log of the server. A lookup without a key must get 401.',
    );
  if (status < 300)
    return problem(
      `${summary(answer)}, without a key`,
      'Check that the URL is the service. A lookup without a key must get 401.',
    );
  if (status !== 401) return unknown(`${summary(answer)}; expected 401 without a key`);
  const verdict = expectError(endpoint, 401)(answer);
  if (verdict.kind !== 'failed') return ok('401 without a key, with the exact message');
  // A run judges the exact text.
  const what = typeof fieldsOf(answer)?.['error'] === 'string' ? 'with another message' : 'no JSON error';
  return unknown(`401 without a key, but ${what}: ${summary(answer)}; expected ${verdict.expected}`);
}

const EXPIRY_TOLERANCE_MS = 60_000;

/**
 * Checks that a target accepts or refuses a key as the fixture states.
 *
 * @param place position of the key in the fixture
 */
export function judgeKey(key: FixtureApiKey, place: string, answer: Answer): CheckResult {
  const { status, receivedAt } = answer;
  if (status === 429)
    return key.limits === undefined
      ? unknown(NOT_CHECKED_429)
      : ok('rate-limited (429), as its limits in the fixture allow');
  const leftMs =
    key.expiresAfterSeconds === undefined ? (key.expiresAt ?? Number.POSITIVE_INFINITY) - receivedAt : 0;
  const isAccepted = status !== 401;
  const isExpiring = key.state === 'active' && Math.abs(leftMs) <= EXPIRY_TOLERANCE_MS;
  const active = leftMs < -EXPIRY_TOLERANCE_MS ? 'expired (expiresAt)' : 'active';
  const partners = key.partner === null ? 'of a non-Partner account' : active;
  const stated = key.state === 'active' ? partners : key.state;
  if (isAccepted && typeof fieldsOf(answer)?.['is_under_ib'] !== 'boolean')
    return problem(
      `answered ${summary(answer)}`,
      'A lookup of a user must get 200 with is_under_ib, or 401 if the key is not accepted.',
    );
  if (stated === 'active' && isExpiring && !isAccepted) return ok('refused (401) because it has expired');
  if (isAccepted === (stated === 'active'))
    return ok(isAccepted ? `accepted (${status})` : `refused (401), as expected: the fixture says ${stated}`);
  return isAccepted
    ? problem(
        `accepted (${status}), but ${place} is ${stated}`,
        `Revoke the key on the target, or correct ${place}.`,
      )
    : problem(
        `refused (401), but ${place} is ${stated}`,
        `Check that the target has this key and that it is active. If not, correct ${place}.`,
      );
}

const NOT_CHECKED_429 = 'rate-limited (429), so nothing was checked';

/** A request, and how to judge its answer. */
export interface Probe {
  readonly area: Check['area'];
  readonly subject: string;
  readonly request: Request;
  readonly judge: (answer: Answer) => CheckResult;
  /** Whether the fixture states limits for this key only. */
  readonly hasOwnLimits?: boolean;
}

/** One lookup for each kind of fixture entry, but none of deposits that change after some polls. */
export function fixtureProbes(
  { users = [], deposits = [] }: Fixture,
  known: Known,
  key: Changes,
): readonly Probe[] {
  const one = <Entry>(
    entries: readonly Entry[],
    what: string,
    expectationOf: (entry: Entry) => Expectation,
  ) => entries.slice(0, 1).map((entry) => ({ entry, what, expectation: expectationOf(entry) }));
  const foreign = known.foreignDeposits.toSorted(
    (a, b) => Number(b.state === 'EXECUTED') - Number(a.state === 'EXECUTED'),
  );
  return [
    ...one(known.members, 'a user of the IB', joined),
    ...one(known.foreigners, 'a user outside the IB', () => expectNotMember),
    ...one(known.executed, 'EXECUTED', expectDeposit),
    ...one(known.pending, 'pending', () => isHidden),
    ...one(known.failed, 'failed', () => isHidden),
    ...one(foreign, 'of a user outside the IB', () => isHidden),
  ].map(({ entry, what, expectation }) => {
    const isDeposit = 'reference_id' in entry;
    const place = isDeposit ? `deposits[${deposits.indexOf(entry)}]` : `users[${users.indexOf(entry)}]`;
    return {
      area: 'fixture',
      subject: place,
      request: isDeposit ? depositCheck(entry.reference_id, key) : userStatus(entry.user_id, key),
      judge: (answer) => judgeEntry(place, what, answer, expectation),
    };
  });
}

function judgeEntry(place: string, what: string, answer: Answer, expectation: Expectation): CheckResult {
  if (answer.status === 429) return unknown(NOT_CHECKED_429);
  if (answer.status === 401) return unknown('not checked because the key was refused (401)');
  const verdict = expectation(answer);
  if (verdict.kind === 'passed') return ok(`${what}, as in the fixture`);
  if (verdict.kind !== 'failed') return unknown(summary(answer));
  return problem(
    `${verdict.actual}, but the fixture says ${what}: ${verdict.expected}`,
    `Correct ${place} or the data of the target. If the target has a bug, a run reports it. If several entries differ, check that the key belongs to the partner.`,
  );
}

/** Only the status is checked here. A run checks the body. */
const isHidden: Expectation = (answer) =>
  answer.status === 404 ? pass : failed('status', '404', summary(answer));

/** Only the instant is compared here. A run checks the format of the date. */
const joined =
  ({ date_joined: date }: FixtureUser): Expectation =>
  (answer) => {
    const verdict = expectMember(answer);
    if (verdict.kind !== 'passed') return verdict;
    const actual = fieldsOf(answer)?.['date_joined'];
    const seen = typeof actual === 'string' ? readTimestamp(actual).instant : undefined;
    return seen === undefined || sameInstant(readTimestamp(date).instant!, seen)
      ? pass
      : failed('value', `"date_joined": "${date}"`, `"date_joined": ${JSON.stringify(actual)}`);
  };

const CLOCK_TOLERANCE_MS = 10_000;

/** Checks that both clocks agree, because `expiresAt` and `executedAt` depend on them. */
export function judgeClock(answers: readonly Answer[]): CheckResult {
  // The server wrote the Date between request and response, in whole seconds. A cached one has an Age (RFC
  // 9111 5.1).
  const ranges = answers.flatMap((answer) => {
    const date = Date.parse(header(answer, 'date') ?? '') + Number(header(answer, 'age') ?? 0) * 1000;
    return Number.isNaN(date) ? [] : [[date - answer.receivedAt, date + 999 - answer.sentAt] as const];
  });
  const [range] = ranges.toSorted((a, b) => a[1] - a[0] - (b[1] - b[0]));
  if (range === undefined) return unknown('no answer has a valid Date header');
  const [least, most] = range;
  const difference = least > 0 ? least : Math.min(most, 0);
  if (difference === 0) return ok(`no difference (within ${seconds(Math.max(-least, most))})`);
  const words = `${seconds(Math.abs(difference))} ${difference > 0 ? 'ahead of' : 'behind'} the clock of this machine`;
  return Math.abs(difference) <= CLOCK_TOLERANCE_MS
    ? ok(words)
    : problem(
        words,
        'Set the clock of the target or of this machine. Expiry of keys and executedAt depend on both.',
      );
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

const NO_LIMITS =
  'the fixture states no limits, so a run must find them, which takes longer. Example: "limits": { "user-status": { "failedLookups": 60, "windowSeconds": 60 } }';

/** Checks for 429: the few requests of doctor should stay far below any limit. A run can start, and waits. */
export function judgeLimits(answers: readonly Answer[], { limits }: Pick<Known, 'limits'>): CheckResult {
  const limited = answers.filter(({ status }) => status === 429);
  const stated = endpointNames.filter((endpoint) => Object.hasOwn(limits, endpoint));
  if (limited.length === 0)
    return ok(
      `no 429 among ${answers.length} answers; ${stated.length === 0 ? NO_LIMITS : `limits are stated for ${stated.join(' and ')}`}`,
    );
  const wait = limited.map((answer) => header(answer, 'retry-after')).find((value) => value !== undefined);
  const retryAfter = wait === undefined ? 'without Retry-After' : `Retry-After: ${wait}`;
  return unknown(
    `${limited.length} of ${answers.length} requests already got 429, ${retryAfter}; verify waits for rate limits; a higher limit or a second active key makes it faster`,
  );
}
