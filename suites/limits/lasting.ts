import type { Answer } from '../answer.ts';
import { failed, pass, type Verdict } from '../catalogue/verdict.ts';
import { stream, type Supply, type Stream } from './stream.ts';
import { describeLimit } from './limit.ts';
import { askWhileLimited } from './limited.ts';
import { decidingMs, retryAfterMs } from './account.ts';
import { isBeyond, obeysUntil, paceOf, type Trial } from './trial.ts';

/** Requests right after a 429. */
const RIGHT_AFTER = 40;

/** A window may end at any moment, but not after each 429. Slow answers may hide that requests pass: then more are sent. */
const [MAX_ENDINGS, MAX_TRIES] = [3, 6];

/** So many may pass without a doubt. */
const SLACK = 2;

/** Answers that come later than so many ms after a 429, or so much of a window, may belong to the next window. */
const [AT_ONCE_MS, AT_ONCE_PART] = [500, 0.1];

/** Judges that the 429 lasts. */
async function judgeLasting(trial: Trial, by: Stream, supply: Supply): Promise<Verdict> {
  const { context, stated, supplies } = trial;
  const atOnce = { most: RIGHT_AFTER, inFlight: RIGHT_AFTER, endsAt: Infinity, isLast: () => false };
  const shows = ({ status }: Answer) => status < 500 && (status !== 401 || supply === supplies.wrongKeys);
  let words = '';
  let endings = 0;
  let last = by.refusal!.reply;
  for (let nth = 0; nth < MAX_TRIES && endings < MAX_ENDINGS; nth++) {
    const startedAt = context.now();
    // A server that fails under load says nothing about its limiter, nor does a key that does not work everywhere.
    const answers = (await context.stream(supply.next, atOnce)).flatMap(({ reply }) =>
      reply.kind === 'answer' && shows(reply) ? [reply.status] : [],
    );
    const refused = answers.filter((status) => status === 429).length;
    const passed = answers.length - refused;
    const isShort = refused < answers.length / 2;
    const refilled = stated && (stated.most * (context.now() - startedAt)) / stated.windowMs;
    const isLeaky = refilled !== undefined && passed > refilled + SLACK;
    if (!isShort && !isLeaky) {
      if (stated === undefined || passed <= SLACK) return pass;
      continue;
    }
    const atOnceMs = stated === undefined ? AT_ONCE_MS : AT_ONCE_PART * stated.windowMs;
    const isLate = context.now() - last.sentAt > Math.min(atOnceMs, retryAfterMs(last) ?? Infinity);
    if (!isLate) endings++;
    words = `${passed} of ${answers.length} requests right after a 429 passed: ${isShort ? 'the 429 did not last' : 'the limiter lets some through'}`;
    const more = await stream(context, supply, paceOf(trial));
    // A bucket may refill as fast as requests are sent.
    const isRefilled = !isLeaky && passed + more.failures < by.failures / 2;
    if (more.refusal === undefined && isBeyond(trial, more)) {
      const actual = `429 once, then ${more.failures} passed`;
      return failed('status', `429 again: the fixture states ${describeLimit(stated!)}`, actual);
    }
    if (more.refusal === undefined || isRefilled) return pass;
    last = more.refusal.reply;
  }
  if (endings < MAX_ENDINGS) return pass;
  const expected = supply === supplies.wrongKeys ? '429 to wrong keys' : '429 while the limit lasts';
  return failed('status', expected, words);
}

/** What follows the first 429: does it last, what else gets it, and when does it end? */
export async function whileLimited(trial: Trial, by: Stream, supply: Supply): Promise<void> {
  const { endpoint, context, known, stated, verdicts } = trial;
  const refusal = by.refusal!;
  verdicts.set('limit', await judgeLasting(trial, by, supply));
  const asked = await askWhileLimited(endpoint, context, known, supply);
  const refused = [refusal.reply];
  const recovery = await context.sendUntilAllowed(
    asked.plain,
    (answer) => refused.push(answer),
    obeysUntil(trial),
  );
  if (recovery.kind === 'answer') trial.pauses.push(context.now() - refusal.reply.receivedAt);
  const gaps = refused.slice(1).map(({ sentAt }, at) => sentAt - refused[at]!.receivedAt);
  trial.limited = {
    ...asked,
    refusal,
    by,
    recovery,
    quietMs: Math.max(0, ...gaps),
    decidingMs: decidingMs(stated, retryAfterMs(refused.at(-1)!)),
  };
}
