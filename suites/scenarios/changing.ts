import { repeated } from '../../schemas/values.ts';
import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Answer } from '../answer.ts';
import { SHORT_WAIT_MS } from '../limits/limit.ts';
import { fingerprint, type Request } from '../request.ts';
import type { ScenarioResult } from '../rules/requirement.ts';
import type { Asking, Changed, Exchange } from '../rules/scenario-context.ts';
import { failed, judgeReply, pass, type Verdict } from '../rules/verdict.ts';

/** Lookups of each kind after a change: if one of three machines never learns it, 0.2 % of runs miss that. */
export const LOOKUPS_AFTER = 16;

/** Lookups with each key that a change is beside, and before it, so that a cache has something to keep. */
export const LOOKUPS_BESIDE = 8;

/** Lookups while a change is under way. */
const LOOKUPS_MEANWHILE = 10;

/** Timers may end early, by less than this (ms). */
const TIMER_MS = 2;

/** Whether counted requests to an endpoint are few: its limit has a long window. */
export const isScarce = ({ longestWindowMs }: Asking, endpoint: Endpoint): boolean =>
  longestWindowMs(endpoint) > SHORT_WAIT_MS;

/**
 * How many of `most` to send: each request once under a limit with a long window, so that some are left for the end;
 * and no large part of what --max-requests leaves.
 */
function affordable(context: Asking, requests: readonly Request[], most: number, isFree = false): number {
  const isPart = !isFree && requests.some(({ endpoint }) => isScarce(context, endpoint));
  const part = isPart ? 0 : Math.floor(context.leftRequests() / 12);
  return Math.min(most, Math.max(requests.length, part));
}

/** Repeats requests in turn until a change is due, in ms of the clock. */
export async function askMeanwhile(
  context: Asking,
  requests: readonly Request[],
  dueAt: number,
): Promise<readonly Exchange[]> {
  const { send, wait, now } = context;
  const count = affordable(context, requests, LOOKUPS_MEANWHILE);
  const exchanges: Exchange[] = [];
  const pauseMs = Math.max(0, dueAt - now()) / count;
  let leftMs = dueAt - now();
  for (let nth = 0; nth < count && leftMs > 0; nth++) {
    const request = requests[nth % requests.length]!;
    exchanges.push(...(await asked(send, [request])));
    await wait(pauseMs, 'change');
    leftMs = dueAt - now();
  }
  if (leftMs > -TIMER_MS) await wait(leftMs + TIMER_MS, 'change');
  return exchanges;
}

/**
 * Sends requests in turn, at most so many of them, at once, so that they take several connections.
 *
 * @param isFree whether they do not count at a limiter, because their key is revoked
 */
export async function askAtOnce(
  context: Asking,
  requests: readonly Request[],
  most = LOOKUPS_AFTER,
  isFree = false,
): Promise<readonly Exchange[]> {
  const all = repeated(requests, affordable(context, requests, most, isFree));
  return asked(context.sendAtOnce, all);
}

/** Sends requests, and puts each reply to its request. */
export async function asked(
  send: Asking['send'],
  requests: readonly Request[],
): Promise<readonly Exchange[]> {
  const replies = await send(...requests);
  return requests.map((request, at) => ({ request, reply: replies[at]! }));
}

/**
 * The first answer that `judge` does not pass, and whether equal lookups passed later on; else that all are right.
 * Inconclusive if none of those that were due was answered.
 */
export function resultOf(
  early: readonly Exchange[],
  due: readonly Exchange[],
  judge: (request: Request, answer: Answer) => Verdict,
): ScenarioResult {
  const [first] = due;
  const answered = [...early, ...due].flatMap(({ request, reply }) =>
    reply.kind === 'answer' ? [{ request, reply, finding: judge(request, reply) }] : [],
  );
  const wrong = answered.findIndex(({ finding }) => finding.kind !== 'passed');
  if (wrong >= 0) {
    const { request } = answered[wrong]!;
    const equal = answered
      .slice(wrong)
      .filter((one) => fingerprint(one.request) === fingerprint(request))
      .map(({ finding }) => finding.kind);
    const count = equal.filter((kind) => kind === 'failed').length;
    const intermittent = count < equal.length ? { intermittent: { failed: count, of: equal.length } } : {};
    return { ...answered[wrong]!, cases: answered.length, ...intermittent };
  }
  const shown = due.find(({ reply }) => reply.kind === 'answer') ?? first!;
  const finding = judgeReply(shown.reply, () => pass);
  return { ...shown, finding, cases: answered.length };
}

const seconds = (ms: number) => `${(Math.max(0, ms) / 1000).toFixed(1)} s`;

/**
 * Adds to a failure what was asked of the state hook, and how long was waited.
 *
 * @param graceMs of the run; undefined if a longer one would not help
 */
export function afterHook(
  result: ScenarioResult,
  change: string,
  { askedAt, dueAt }: Changed,
  graceMs?: number,
): ScenarioResult {
  const { finding, reply } = result;
  if (finding.kind !== 'failed' || reply?.kind !== 'answer') return result;
  const { aspect, expected, actual } = finding;
  const at = `${seconds(reply.sentAt - askedAt)} after the state hook was asked for ${change}`;
  const advice =
    graceMs !== undefined && reply.sentAt >= dueAt
      ? `; raise --grace (${seconds(graceMs)} now) if your system promises this later`
      : '';
  return { ...result, finding: failed(aspect, expected, `${actual}, ${at}${advice}`) };
}
