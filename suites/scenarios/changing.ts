import type { Answer } from '../answer.ts';
import { fingerprint, type Request } from '../request.ts';
import type { ScenarioResult } from '../requirement.ts';
import type { ChangeTimes, Context, Exchange } from '../scenario-context.ts';
import { failed, judgeReply, pass, type Verdict } from '../verdict.ts';

/** Lookups of each kind after a change: if one of three machines never learns it, 0.2 % of runs miss that. */
const LOOKUPS_AFTER = 16;

/** Lookups while a change is under way. */
const LOOKUPS_MEANWHILE = 10;

/** Timers may end early, by less than this (ms). */
const TIMER_MS = 2;

/** Repeats requests in turn until a change is due, in ms of the clock. */
export async function askMeanwhile(
  { send, wait, now }: Context,
  requests: readonly Request[],
  dueAt: number,
): Promise<readonly Exchange[]> {
  const asked: Exchange[] = [];
  const pauseMs = Math.max(0, dueAt - now()) / LOOKUPS_MEANWHILE;
  let leftMs = dueAt - now();
  for (let nth = 0; nth < LOOKUPS_MEANWHILE && leftMs > 0; nth++) {
    const request = requests[nth % requests.length]!;
    asked.push({ request, reply: (await send(request))[0]! });
    await wait(pauseMs);
    leftMs = dueAt - now();
  }
  if (leftMs > -TIMER_MS) await wait(leftMs + TIMER_MS);
  return asked;
}

/** Sends requests in turn, `count` of them, at once, so that they take several connections. */
export async function askAtOnce(
  { sendAtOnce }: Context,
  requests: readonly Request[],
  count = LOOKUPS_AFTER,
): Promise<readonly Exchange[]> {
  const all = repeated(requests, count);
  const replies = await sendAtOnce(...all);
  return all.map((request, at) => ({ request, reply: replies[at]! }));
}

/** Repeats items in turn, up to `count`. */
export const repeated = <Item>(items: readonly Item[], count: number): readonly Item[] =>
  Array.from({ length: items.length && count }, (_, nth) => items[nth % items.length]!);

/**
 * The first answer that `judge` does not pass, and whether equal lookups passed later on; else that all are right.
 * Inconclusive if nothing was answered.
 */
export function resultOf(
  exchanges: readonly Exchange[],
  judge: (request: Request, answer: Answer) => Verdict,
): ScenarioResult {
  const [first] = exchanges;
  const answered = exchanges.flatMap(({ request, reply }) =>
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
  const finding = answered.length > 0 ? pass : judgeReply(first!.reply, () => pass);
  return { ...first!, finding, cases: answered.length };
}

const seconds = (ms: number) => `${(Math.max(0, ms) / 1000).toFixed(1)} s`;

/**
 * Adds to a failure what was asked of the state hook, and how long was waited.
 *
 * @param graceMs of the run; undefined if a longer one would not help
 */
export function afterHook(
  result: ScenarioResult,
  asked: string,
  { askedAt, dueAt }: ChangeTimes,
  graceMs?: number,
): ScenarioResult {
  const { finding, reply } = result;
  if (finding.kind !== 'failed' || reply?.kind !== 'answer') return result;
  const { aspect, expected, actual } = finding;
  const at = `${seconds(reply.sentAt - askedAt)} after the state hook was asked for ${asked}`;
  const advice =
    graceMs !== undefined && reply.sentAt >= dueAt
      ? `; raise --grace (${seconds(graceMs)} now) if your system promises this later`
      : '';
  return { ...result, finding: failed(aspect, expected, `${actual}, ${at}${advice}`) };
}
