import { messageOf, type Endpoint } from '../../schemas/endpoints.ts';
import { Problem } from '../../schemas/problem.ts';
import { header, isFromFrontEnd, isHtmlPage, type Answer, type Reply } from '../answer.ts';
import { fieldsOf } from '../rules/expectations.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { lookupOf } from '../request.ts';
import { createClient } from './client.ts';
import type { RunOptions } from './run-options.ts';
import { wireRequest, type Sender } from './sender.ts';

/**
 * Checks that the target answers and is the right service, so that a run does not send a thousand requests in vain.
 *
 * @param href `{base_url}`, for messages
 * @param ifRefused error message if both endpoints refuse the key under test; without it, the run goes on
 * @returns why to stop the run; undefined if the target can be judged
 * @throws Problem with code `unreachable` if the target cannot be reached or is another service, and with code
 * `usage` for a refused key
 */
export async function preflight(sender: Sender, known: Known, href: string, ifRefused?: string) {
  const credential = known.callerKeys.length > 0 ? { as: 'caller' as const } : { as: 'none' as const };
  const ask = (endpoint: Endpoint) => lookupOf(endpoint, findableId(endpoint, known), { credential });
  let { reply } = await sender.send(ask('user-status'), { isNow: true });
  if (reply.kind === 'trouble' && reply.code === 'timeout')
    ({ reply } = await sender.send(ask('user-status'), { isNow: true }));
  if (isLimited(reply)) {
    // The other endpoint, and lookups without a key, may go on while the key is limited.
    const others = [ask('deposit-check'), { ...ask('user-status'), credential: { as: 'none' as const } }];
    for (const other of others) if (isNotLimited((await sender.sendOnce(other)).reply)) return undefined;
    ({ reply } = await sender.send(ask('user-status')));
  }
  if (reply.kind === 'answer') {
    const sign = otherServiceSign(reply, 'user-status');
    const isRefused = ifRefused !== undefined && reply.status === 401;
    if (sign === undefined && !isRefused) return undefined;
    // A server may lack one endpoint: only if both look wrong, it is another service.
    const other = (await sender.send(ask('deposit-check'))).reply;
    if (other.kind !== 'answer') return undefined;
    if (isRefused && other.status === 401) throw new Problem('usage', `${href}: ${ifRefused}`);
    if (sign !== undefined && otherServiceSign(other, 'deposit-check') !== undefined)
      throw new Problem(
        'unreachable',
        `${href}: this is another service: both endpoints answer ${sign}; check the base URL and its path`,
      );
    return undefined;
  }
  const { code, words } = reply;
  if (code === 'network') throw new Problem('unreachable', `${href}: ${words}`);
  return {
    reason: code,
    words: code === 'timeout' ? `the target accepts connections but does not answer: ${words}` : words,
  };
}

/** Time between two lookups of a target that does not answer yet, and between remarks on that, in ms. */
const [PAUSE_MS, REMARK_MS] = [250, 10_000];

type WaitOptions = Pick<
  RunOptions,
  | 'target'
  | 'known'
  | 'headers'
  | 'tls'
  | 'timeoutMs'
  | 'clock'
  | 'signal'
  | 'connect'
  | 'onRemark'
  | 'waitMs'
>;

/** Asks a target that does not answer yet again, at most `waitMs`: CI starts the server beside the run. */
export async function waitUntilItAnswers(options: WaitOptions): Promise<void> {
  const { known, clock, signal, waitMs = 0, onRemark } = options;
  if (waitMs === 0) return;
  const deadline = clock.now() + waitMs;
  const client = (options.connect ?? createClient)({
    ...options,
    ...options.tls,
    connections: 1,
    now: clock.now,
    deadline,
  });
  const plain = lookupOf('user-status', findableId('user-status', known), { credential: { as: 'none' } });
  let remarkAt = clock.now();
  try {
    while (clock.now() < deadline && !signal.aborted) {
      const reply = await clock.during(client.send(wireRequest(plain)));
      if (reply.kind === 'answer' && !isFromFrontEnd(reply)) return;
      const why = reply.kind === 'answer' ? `${reply.status}` : reply.words;
      if (clock.now() >= remarkAt) {
        const seconds = Math.ceil((deadline - clock.now()) / 1000);
        onRemark?.(`the target does not answer yet (${why}); --wait allows ${seconds} s more`);
        remarkAt += REMARK_MS;
      }
      await clock.sleep(Math.max(0, Math.min(PAUSE_MS, deadline - clock.now())), signal);
    }
  } finally {
    await client.close();
  }
}

const isLimited = (reply: Reply) => reply.kind === 'answer' && reply.status === 429;
const isNotLimited = (reply: Reply) => reply.kind === 'answer' && reply.status !== 429;

const MAX_LOCATION = 300;

/** How an answer shows that it comes from another service; undefined if it does not. */
export function otherServiceSign(answer: Answer, endpoint: Endpoint): string | undefined {
  const { status, json } = answer;
  if (status >= 300 && status < 400) {
    const location = header(answer, 'location')
      ?.replaceAll(/[^\x20-\x7e]/g, '?')
      .slice(0, MAX_LOCATION);
    return `${status}, a redirect${location === undefined ? '' : ` to ${location}`}`;
  }
  // nginx completes the TLS handshake, and then answers 400.
  if (status === 400 && /SSL certificate/i.test(answer.text))
    return '400: the server wants a client certificate';
  if (isHtmlPage(answer) && status < 500) return `${status} with a web page`;
  const isJson = json.ok || /\bjson\b/i.test(header(answer, 'content-type') ?? '');
  if (status !== 404) return undefined;
  if (!isJson) return '404 without JSON';
  // Only deposit-check has a 404, with its own message. Any other 404 means that the path does not exist.
  const message = messageOf(endpoint, 404);
  const isOurs = message !== undefined && fieldsOf(answer)?.['error'] === message;
  return isOurs ? undefined : '404 with another message';
}
