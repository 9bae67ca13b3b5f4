import type { Answer, Reply } from '../answer.ts';
import type { Request } from '../request.ts';
import type { ChangeTimes, Context, Exchange } from '../scenario-context.ts';
import { failed, inconclusive, pass, type Verdict } from '../verdict.ts';

/** Lookups of each kind after a change: if one of three machines never learns it, 0.2 % of runs miss that. */
export const LOOKUPS_AFTER = 16;

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

/** Sends lookups at once, so that they take several connections. */
export async function askAtOnce(
  { sendAtOnce }: Context,
  requests: readonly Request[],
): Promise<readonly Exchange[]> {
  const replies = await sendAtOnce(...requests);
  return requests.map((request, at) => ({ request, reply: replies[at]! }));
}

/** Repeats items in turn, up to `count`. */
export const repeated = <Item>(items: readonly Item[], count: number): readonly Item[] =>
  Array.from({ length: items.length && count }, (_, nth) => items[nth % items.length]!);

/** A wrong answer, with its verdict. */
export interface Wrong {
  readonly request: Request;
  readonly reply: Answer;
  readonly verdict: Verdict;
}

/** The answers for which `judge` gives a verdict that does not hold. */
export const wrongOf = (
  exchanges: readonly Exchange[],
  judge: (request: Request, answer: Answer) => Verdict,
): readonly Wrong[] =>
  exchanges.flatMap(({ request, reply }) => {
    const verdict = reply.kind === 'answer' ? judge(request, reply) : pass;
    return reply.kind !== 'answer' || verdict.kind === 'passed' ? [] : [{ request, reply, verdict }];
  });

/** Why lookups show nothing: none of them was answered. */
export function unanswered(exchanges: readonly Exchange[]): Verdict | undefined {
  const troubles = exchanges.flatMap(({ reply }) => (reply.kind === 'trouble' ? [reply] : []));
  const [first] = troubles;
  return first !== undefined && troubles.length === exchanges.length
    ? inconclusive(first.code, first.words)
    : undefined;
}

const seconds = (ms: number) => `${(Math.max(0, ms) / 1000).toFixed(1)} s`;

/** Adds to a failure what was asked of the state hook, and how long was waited. */
export function afterHook(
  verdict: Verdict,
  asked: string,
  { askedAt, dueAt }: ChangeTimes,
  graceMs: number,
  reply: Reply,
): Verdict {
  if (verdict.kind !== 'failed' || reply.kind !== 'answer') return verdict;
  const { aspect, expected, actual } = verdict;
  const at = `${seconds(reply.sentAt - askedAt)} after the state hook was asked for ${asked}`;
  const advice =
    reply.sentAt >= dueAt
      ? `; raise --grace (${seconds(graceMs)} now) if your system promises this later`
      : '';
  return failed(aspect, expected, `${actual}, ${at}${advice}`);
}
