import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Answer, Reply } from '../answer.ts';
import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import type { Context } from '../scenario-context.ts';
import { failed, inconclusive, pass, type Verdict } from '../verdict.ts';
import { findableLookup, suppliesFor, type Supplies, type Supply } from './kinds.ts';
import { describeLimit, describeMs, statedLimit, type RateLimit } from './limit.ts';
import { askWhileLimited, type WhileLimited } from './limited.ts';
import { decidingMs } from './limiter.ts';
import { retryAfterMs } from './retry-after.ts';
import { describeStream, mixedStream, outdoes, stream, type Stream } from './stream.ts';

/** What a run finds out about the limiter of an endpoint. */
export interface Trial {
  readonly endpoint: Endpoint;
  readonly context: Context;
  readonly known: Known;
  readonly stated: RateLimit | undefined;
  readonly supplies: Supplies;
  /** Requests in flight; four times as many where members are among them, so that failures come no slower. */
  readonly inFlight: number;
  /** All requests of one kind, up to the first refusal. */
  readonly streams: Stream[];
  /** How long the key was limited, each time, in ms. */
  readonly pauses: number[];
  /** Verdicts by the last part of a requirement's id. The limit itself is `limit`. */
  readonly verdicts: Map<Judged, Verdict>;
  /** The first 429 to requests that should get it, and what followed. */
  limited?: Limited;
}

export type Judged =
  'limit' | 'spares-successes' | 'counts-unknown-users' | 'not-reset' | 'counts-foreign-users';

/** A limiter that answered 429. */
export interface Limited extends WhileLimited {
  readonly refusal: { readonly request: Request; readonly reply: Answer };
  readonly by: Stream;
  /** The reply to a lookup after the waits. */
  readonly recovery: Reply;
  /** The longest time in which nothing was sent, and the one that decides that a key does not recover, in ms. */
  readonly quietMs: number;
  readonly decidingMs: number;
}

/** The most requests of one kind, and the most ms that they take, if no limit is stated. */
const [MOST, MOST_MS] = [1000, 20_000];

/** A stream of a stated limit ends within its window. */
const PART_OF_WINDOW = 0.9;

/** Only a limiter that lets go after so many ms is compared with itself. */
const SHORT_PAUSE_MS = 30_000;

/** Before a trial nothing is sent for so many ms, or for a known window up to the second number, if there is time. */
const [QUIET_MS, MAX_QUIET_MS, PART_OF_REST] = [2000, 8000, 1 / 6];

const [MIN_IN_FLIGHT, MAX_IN_FLIGHT, PROBES] = [8, 64, 4];

/** Triggers the limiter of an endpoint. Done once per run. */
export const trigger = (endpoint: Endpoint, context: Context, known: Known): Promise<Trial> =>
  context.once(`limiter of ${endpoint}`, async (shared) => {
    const trial = await createTrial(endpoint, shared, known);
    const windowMs = shared.longestWindowMs(endpoint);
    const quietMs = windowMs > MAX_QUIET_MS ? QUIET_MS : Math.max(QUIET_MS, windowMs);
    await shared.waitForQuiet(endpoint, Math.min(quietMs, PART_OF_REST * shared.leftMs()));
    await (endpoint === 'user-status' ? tryUsers(trial) : tryDeposits(trial));
    return trial;
  });

async function createTrial(endpoint: Endpoint, context: Context, known: Known): Promise<Trial> {
  const stated = statedLimit(endpoint, known);
  // A member's lookup is free. The slowest of a few counts: a network may vary.
  const probes = await context.burst(
    ...Array.from({ length: PROBES }, () => findableLookup('user-status', known)),
  );
  const latencyMs = Math.max(
    0,
    ...probes.map((one) => (one.kind === 'answer' ? one.receivedAt - one.sentAt : 0)),
  );
  const needed = stated === undefined ? 0 : (2.5 * mostOf(stated) * latencyMs) / stated.windowMs;
  return {
    endpoint,
    context,
    known,
    stated,
    supplies: suppliesFor(endpoint, known),
    inFlight: Math.min(MAX_IN_FLIGHT, Math.max(MIN_IN_FLIGHT, Math.ceil(needed))),
    streams: [],
    pauses: [],
    verdicts: new Map(),
  };
}

const mostOf = (stated: RateLimit | undefined) => (stated === undefined ? MOST : 2 * stated.most + 2);

const paceOf = ({ stated, inFlight }: Trial, times = 1) => ({
  most: mostOf(stated),
  inFlight: times * inFlight,
  withinMs: stated === undefined ? MOST_MS : PART_OF_WINDOW * stated.windowMs,
});

async function send(trial: Trial, supply: Supply): Promise<Stream> {
  const { context, supplies, streams } = trial;
  const one =
    supply === supplies.mixed
      ? await mixedStream(context, supply, paceOf(trial, 4))
      : await stream(context, supply, paceOf(trial, supply === supplies.members ? 4 : 1));
  streams.push(one);
  return one;
}

/** The same, once more after the wait if the limit was used up before. */
async function sendAtRest(trial: Trial, supply: Supply): Promise<Stream> {
  const first = await send(trial, supply);
  return first.startsLimited && (await obey(trial, supply, first)) ? send(trial, supply) : first;
}

/** Whether more passed than any limiter of the stated limit allows. */
const isBeyond = ({ stated }: Trial, one: Stream | undefined): boolean =>
  stated !== undefined && one !== undefined && one.failures > 2 * stated.most;

/** For what would take so many ms more. */
export const notCompared = (why: string, ms?: number): Verdict =>
  inconclusive(
    'not-compared',
    `not compared: ${why}${ms === undefined ? '' : ` (needs ${Math.ceil(ms / 60_000)}m more)`}`,
  );

/** Whether a stream ended the trial: its answers are not 429, or there are none. */
function isOver({ verdicts, context }: Trial, { instead, refusal, trouble, passed, kind }: Stream): boolean {
  if (instead !== undefined) {
    const actual = `${instead.reply.status} instead of 429 after ${passed} requests (${kind})`;
    verdicts.set(
      'limit',
      passed > 0 ? failed('status', '429', actual) : inconclusive('depends', `${actual}?`),
    );
  } else if (context.keyWorks() === false)
    verdicts.set(
      'limit',
      inconclusive('key-refused', 'the target answers every request of the key under test with 401'),
    );
  else if (refusal === undefined && trouble !== undefined)
    verdicts.set('limit', inconclusive(trouble.code, trouble.words));
  return verdicts.has('limit');
}

async function tryUsers(trial: Trial): Promise<void> {
  const { supplies, verdicts, known } = trial;
  const members = known.members.length === 0 ? undefined : await tryMembers(trial);
  if (verdicts.has('limit')) return;
  const mix = await sendAtRest(trial, known.members.length === 0 ? supplies.unknown : supplies.mixed);
  if (isOver(trial, mix)) return;
  let by: Stream | undefined;
  if (mix.refusal !== undefined) {
    by = mix;
    const finding = mix.startsLimited ? notCompared(USED_UP, windowOf(trial)) : pass;
    verdicts.set('not-reset', finding).set('counts-unknown-users', finding);
    await whileLimited(trial, mix, supplies.unknown);
  } else by = await tryKinds(trial, mix);
  judgeMembers(trial, members, by);
  if (by !== undefined) await compareForeigners(trial);
}

/** Sends members only. Returns those that may show that members do not count. */
async function tryMembers(trial: Trial): Promise<Stream | undefined> {
  const { supplies, verdicts, stated } = trial;
  const set = (verdict: Verdict) => void verdicts.set('spares-successes', verdict);
  const first = await sendAtRest(trial, supplies.members);
  if (first.startsLimited) return set(notCompared(USED_UP, windowOf(trial)));
  if (isOver(trial, first) || first.refusal === undefined) return first;
  const actual = `429 after ${first.passed} lookups of members`;
  const fails = failed('status', '200, because a lookup of a member is not a failed lookup', actual);
  if (!(await obey(trial, supplies.members, first))) {
    // A few lookups of a member came before.
    const beyond = stated === undefined ? Infinity : first.passed - stated.most;
    const isAtLimit = beyond >= -PROBES && beyond <= 1;
    return set(isAtLimit ? fails : notCompared(`${actual}; others may use this limit`, windowOf(trial)));
  }
  const again = await send(trial, supplies.members);
  if (isOver(trial, again) || again.refusal === undefined) return again;
  set(again.startsLimited ? notCompared('others may use this limit') : fails);
  await obey(trial, supplies.unknown, again);
  return undefined;
}

const USED_UP = 'the limit was used up before';

const windowOf = ({ stated, pauses }: Trial): number => Math.max(stated?.windowMs ?? 0, ...pauses, 60_000);

/** Judges that members never count, by a stream of them and the one that triggered the limiter. */
function judgeMembers(trial: Trial, members: Stream | undefined, by: Stream | undefined): void {
  const { verdicts, stated } = trial;
  if (members === undefined || verdicts.has('spares-successes')) return;
  const isShown =
    stated === undefined
      ? by === undefined || outdoes(members, by, members.passed)
      : isBeyond(trial, members);
  const slow = `${describeStream(members)}: too slow to reach the limit`;
  verdicts.set('spares-successes', isShown ? pass : notCompared(slow));
}

/** Sends one kind after the other, because a mixture with members passed. Returns what triggered the limiter. */
async function tryKinds(trial: Trial, mix: Stream): Promise<Stream | undefined> {
  const { supplies, verdicts, context } = trial;
  // After it, a limiter that a success resets is at rest.
  await context.burst(supplies.members.next());
  const unknown = await send(trial, supplies.unknown);
  if (isOver(trial, unknown)) return undefined;
  if (unknown.refusal !== undefined) {
    verdicts.set('counts-unknown-users', pass);
    await whileLimited(trial, unknown, supplies.unknown);
    await judgeReset(trial, mix, unknown);
    return unknown;
  }
  verdicts.set('not-reset', inconclusive('depends', 'not checked because unknown users did not get 429'));
  const malformed = await send(trial, supplies.malformed);
  if (isOver(trial, malformed)) return undefined;
  if (malformed.refusal !== undefined) {
    const isShown = isBeyond(trial, unknown) || outdoes(unknown, malformed);
    const expected = '429 after as many lookups of unknown users as of malformed ids';
    const actual = `${unknown.passed} unknown users passed, then 429 after ${malformed.passed} malformed ids: unknown users never count: only malformed ids do`;
    verdicts.set(
      'counts-unknown-users',
      isShown
        ? failed('status', expected, actual)
        : notCompared('malformed ids got 429, unknown users passed at another pace'),
    );
    await whileLimited(trial, malformed, supplies.malformed);
    return malformed;
  }
  const wrongKeys = await send(trial, supplies.wrongKeys);
  if (isOver(trial, wrongKeys)) return undefined;
  if (wrongKeys.refusal === undefined) judgeAbsence(trial, [unknown, malformed, wrongKeys]);
  else await whileLimited(trial, wrongKeys, supplies.wrongKeys);
  return wrongKeys.refusal === undefined ? undefined : wrongKeys;
}

/** Judges that a success does not reset the count: a mixture with members passed, unknown users alone got 429. */
async function judgeReset(trial: Trial, mix: Stream, unknown: Stream): Promise<void> {
  const { supplies, verdicts, stated } = trial;
  const fails = () => {
    const actual = `${mix.failures} failed lookups passed with members between them, but 429 came after ${unknown.failures} without: a successful lookup resets the count`;
    verdicts.set(
      'not-reset',
      failed('status', '429 to repeated failed lookups, with or without successful ones', actual),
    );
  };
  const open = (why: string) => verdicts.set('not-reset', notCompared(why));
  const passed = (one: Stream) => {
    open('the stated limit is not that of the target');
    verdicts.set('limit', tooMany(trial, one.failures));
  };
  if (!(await rests(trial))) {
    if (!isBeyond(trial, mix)) return void open('a second comparison takes too long');
    const ratio = unknown.failures / stated!.most;
    if (ratio >= 1 && ratio <= 1.5) fails();
    // A limiter that a success resets lets as many pass as stated.
    else if (ratio < 0.5 || ratio > 1.5) passed(mix);
    else open('the answers fit no limit');
    return;
  }
  const again = await send(trial, supplies.unknown);
  if (isBeyond(trial, again)) return passed(again);
  if (again.refusal === undefined || !(await obey(trial, supplies.unknown, again)))
    return void open('unknown users got 429 once');
  if (isBeyond(trial, mix)) return fails();
  if (!(await rests(trial))) return void open('a second comparison takes too long');
  const mixed = await send(trial, supplies.mixed);
  if (mixed.refusal !== undefined) verdicts.set('not-reset', pass);
  else if (outdoes(mixed, again)) fails();
  else open('failed lookups passed at another pace');
}

const tooMany = ({ stated, endpoint }: Trial, passed: number): Verdict => {
  const what = endpoint === 'user-status' ? 'failed lookups' : 'requests';
  return failed(
    'status',
    `429 before more than ${2 * stated!.most} ${what} pass in ${describeMs(stated!.windowMs)}: the fixture states ${describeLimit(stated!)}`,
    `${passed} passed, stated ${stated!.most}: do several instances each count alone, or is the statement wrong?`,
  );
};

/** Judges that no 429 came, after all kinds of requests that may trigger the limiter. */
function judgeAbsence(trial: Trial, tried: readonly Stream[]): void {
  const { verdicts, stated } = trial;
  const words = `no 429 after ${tried.map(describeStream).join(', ')}`;
  const delays = trial.streams.some(({ slowdown }) => slowdown > 4)
    ? ': answers came later and later instead of a 429: does the limiter delay?'
    : '';
  if (stated === undefined) verdicts.set('limit', inconclusive('limit-not-reached', `${words}${delays}`));
  else if (delays === '' && tried.every((one) => isBeyond(trial, one))) {
    const { expected } = tooMany(trial, 0) as Extract<Verdict, { kind: 'failed' }>;
    const cause = `stated ${stated.most}: is the statement wrong, or do several instances each count alone?`;
    verdicts.set('limit', failed('status', expected, `${words}, ${cause}`));
  } else
    verdicts.set(
      'limit',
      inconclusive('timing-window', `${words}${delays || ': too slow to reach the limit'}`),
    );
}

async function tryDeposits(trial: Trial): Promise<void> {
  const { supplies } = trial;
  const one = await send(trial, supplies.unknown);
  if (isOver(trial, one)) return;
  if (one.refusal === undefined) judgeAbsence(trial, [one]);
  else await whileLimited(trial, one, supplies.unknown);
}

/** Requests right after a 429. */
const RIGHT_AFTER = 40;

/** A window may end at any moment, but not after each 429. */
const MAX_ENDINGS = 3;

/** Judges that the 429 lasts. */
async function judgeLasting(trial: Trial, by: Stream, supply: Supply): Promise<Verdict> {
  const { context, stated, supplies } = trial;
  const atOnce = { most: RIGHT_AFTER, inFlight: RIGHT_AFTER, endsAt: Infinity, isLast: () => false };
  let words = '';
  for (let nth = 0; nth < MAX_ENDINGS; nth++) {
    const startedAt = context.now();
    // A server that fails under load says nothing about its limiter.
    const answers = (await context.stream(supply.next, atOnce)).flatMap(({ reply }) =>
      reply.kind === 'answer' && reply.status < 500 ? [reply.status] : [],
    );
    const refused = answers.filter((status) => status === 429).length;
    const passed = answers.length - refused;
    const isShort = refused < answers.length / 2;
    const allowed = stated && (stated.most * (context.now() - startedAt)) / stated.windowMs + 2;
    const isLeaky = passed > (allowed ?? Infinity);
    if (!isShort && !isLeaky) return pass;
    words = `${passed} of ${answers.length} requests right after a 429 passed: ${isShort ? 'the 429 did not last' : 'the limiter lets some through'}`;
    const more = await stream(context, supply, paceOf(trial));
    // A bucket may refill as fast as requests are sent.
    const isRefilled = !isLeaky && passed + more.failures < by.failures / 2;
    if (more.refusal === undefined || isRefilled) return pass;
  }
  const expected = supply === supplies.wrongKeys ? '429 to wrong keys' : '429 while the limit lasts';
  return failed('status', expected, words);
}

/** What follows the first 429: does it last, what else gets it, and when does it end? */
async function whileLimited(trial: Trial, by: Stream, supply: Supply): Promise<void> {
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

/** When to stop waiting, in ms of the clock: the other endpoint needs time, too. */
const obeysUntil = ({ context, endpoint }: Trial): number =>
  context.now() + context.leftMs() / (endpoint === 'user-status' ? 2 : 1);

/** Waits until a key is free again. Returns whether it is. */
async function obey(trial: Trial, supply: Supply, { refusal }: Stream): Promise<boolean> {
  const { context, pauses } = trial;
  const reply = await context.sendUntilAllowed(supply.next(), () => undefined, obeysUntil(trial));
  if (reply.kind !== 'answer') return false;
  pauses.push(context.now() - refusal!.reply.receivedAt);
  return true;
}

/** How much longer a pause may be than the first: a limiter whose pauses grow is not compared. */
const [GROWTH, SLACK_MS] = [1.5, 500];

/** Rests before a comparison, twice as long as the pause. Returns whether there is time and the pauses do not grow. */
async function rests({ context, pauses, endpoint, stated }: Trial): Promise<boolean> {
  const [first] = pauses;
  if (first === undefined || first > SHORT_PAUSE_MS) return false;
  // The first pause may have begun in the middle of a window.
  const usualMs = Math.max(first, stated?.windowMs ?? 0);
  if (pauses.some((ms) => ms > GROWTH * usualMs + SLACK_MS)) return false;
  const restMs = 2 * first + 1000;
  if (context.leftMs() < 2 * restMs + first) return false;
  await context.waitForQuiet(endpoint, restMs);
  return true;
}

/** Judges that users of other IBs count where unknown ones do: otherwise the limiter tells them apart. */
async function compareForeigners(trial: Trial): Promise<void> {
  const { supplies, verdicts, known } = trial;
  const row = 'counts-foreign-users';
  if (known.foreigners.length === 0) return;
  if (verdicts.get('counts-unknown-users')?.kind !== 'passed')
    return void verdicts.set(row, inconclusive('depends', 'not checked because unknown users do not count'));
  verdicts.set(row, notCompared('the pauses after a 429 are too long for it', 10 * windowOf(trial)));
  let words = '';
  for (let nth = 0; nth < 2; nth++) {
    if (!(await rests(trial))) return;
    const unknown = await send(trial, supplies.fewUnknown);
    if (unknown.refusal === undefined)
      return void verdicts.set(row, notCompared('unknown users got no 429 again'));
    if (!(await obey(trial, supplies.fewUnknown, unknown)) || !(await rests(trial))) return;
    const foreign = await send(trial, supplies.foreign);
    if (foreign.refusal !== undefined) {
      await obey(trial, supplies.foreign, foreign);
      return void verdicts.set(row, pass);
    }
    if (!outdoes(foreign, unknown))
      return void verdicts.set(row, notCompared('users of other IBs passed at another pace'));
    words = `429 after ${unknown.passed} unknown users, but not after ${foreign.passed} users of other IBs: users of other IBs do not count: this tells them from unknown ones`;
  }
  verdicts.set(row, failed('status', '429 to users of other IBs where unknown ones get it', words));
}
