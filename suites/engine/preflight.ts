import { endpointNames, messageOf, type Endpoint } from '../../schemas/endpoints.ts';
import { Problem } from '../../schemas/problem.ts';
import { firstWords, header, isFromFrontEnd, isHtmlPage, type Answer, type Reply } from '../answer.ts';
import { fieldsOf } from '../rules/expectations.ts';
import { findableId } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { lookupOf, type Request } from '../request.ts';
import { createClient } from '../client/client.ts';
import type { RunOptions } from './run-options.ts';
import type { Sender } from './sender.ts';
import { wireRequest } from './sending.ts';

/**
 * Checks that the target answers and is the right service, so that a run does not send a thousand requests in vain.
 *
 * @param options with `ifRefused`, the error message if both endpoints refuse the key under test; without it, the run
 * goes on
 * @returns why to stop the run; undefined if the target can be judged
 * @throws Problem with code `unreachable` if the target cannot be reached or is another service, and with code
 * `usage` for a refused key
 */
export async function preflight(
  sender: Pick<Sender, 'send' | 'sendOnce' | 'isTracing' | 'trace'>,
  options: Pick<RunOptions, 'known' | 'target' | 'ifRefused' | 'clock' | 'signal' | 'onRemark'>,
) {
  const { known, ifRefused } = options;
  const { href } = options.target;
  const credential = known.callerKeys.length > 0 ? { as: 'caller' as const } : { as: 'none' as const };
  const ask = (endpoint: Endpoint) => lookupOf(endpoint, findableId(endpoint, known), { credential });
  const isBad = (one: Reply) => one.kind === 'answer' && !isOfService(one);
  const first = { isNow: true, isUnjudged: (one: Reply) => isBad(one) || mayRefuseTrace(one) };
  let { reply } = await sender.send(ask('user-status'), first);
  if (reply.kind === 'trouble' && reply.code === 'timeout')
    ({ reply } = await sender.send(ask('user-status'), first));
  if (isLimited(reply)) {
    // The other endpoint, and lookups without a key, may go on while the key is limited.
    const others = [ask('deposit-check'), { ...ask('user-status'), credential: { as: 'none' as const } }];
    for (const other of others) if (isNotLimited((await sender.sendOnce(other)).reply)) return undefined;
    ({ reply } = await sender.send(ask('user-status')));
  }
  if (isBad(reply)) {
    const bad = await askUntilGood(sender, options, probesOf(known, ask), isBad);
    if (bad !== undefined) throw new Problem('unreachable', `${href}: ${onlyFrontEnd(bad)}`);
    ({ reply } = await sender.send(ask('user-status'), first));
  }
  if (sender.isTracing() && mayRefuseTrace(reply)) {
    sender.trace(false);
    const other = (await sender.send(ask('user-status'), first)).reply;
    const isRefused = other.kind === 'answer' && !mayRefuseTrace(other);
    if (isRefused) options.onRemark?.(REFUSES_TRACE);
    if (isRefused) reply = other;
    else sender.trace(true);
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
    words:
      code === 'timeout'
        ? `the target accepts connections but does not answer: ${words}; --wait waits for a target that starts`
        : words,
  };
}

export const REFUSES_TRACE =
  'the target refuses requests with the header field traceparent, so that they are sent without it';

/** Whether no lookup gets such an answer, unless something in its header fields is refused. */
const mayRefuseTrace = (reply: Reply): boolean =>
  reply.kind === 'answer' && reply.status >= 400 && ![401, 404, 429].includes(reply.status);

/** Whether an answer shows that the service is there; not if it may be that of a front end alone. */
export const isOfService = ({ status }: Answer): boolean =>
  (status < 500 || status > 599) && ![403, 407, 408].includes(status);

/** Why nothing can be judged if all answers are like this one. */
export const onlyFrontEnd = (answer: Answer): string =>
  `the target answers everything with ${firstWords(answer)}: the service may be down behind a proxy or gateway, or this address may be blocked; --wait waits until the service answers`;

/** Lookups with different right answers, of each endpoint. */
const probesOf = (known: Known, ask: (endpoint: Endpoint) => Request): readonly Request[] => [
  ...endpointNames.map(ask),
  ...endpointNames.map((endpoint) => lookupOf(endpoint, 'x')),
  lookupOf('user-status', findableId('user-status', known), { credential: { as: 'none' } }),
];

/** How often they are asked, and the pause before they are asked again, in ms. */
const [ROUNDS, ROUND_MS] = [6, 1000];

/** Asks until an answer is good. @returns the last answer if none was */
async function askUntilGood(
  sender: Pick<Sender, 'sendOnce'>,
  { clock, signal }: Pick<RunOptions, 'clock' | 'signal'>,
  probes: readonly Request[],
  isBad: (reply: Reply) => boolean,
): Promise<Answer | undefined> {
  let last: Answer | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    if (round > 0) await clock.sleep(ROUND_MS, signal);
    for (const probe of probes) {
      const { reply } = await sender.sendOnce(probe, { isUnjudged: true });
      if (reply.kind === 'answer' && !isBad(reply)) return undefined;
      if (reply.kind === 'answer') last = reply;
    }
  }
  return last;
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
