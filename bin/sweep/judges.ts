import { endpointNames } from '../../schemas/endpoints.ts';
import {
  areEqual,
  attemptsIn,
  judgeGrowth,
  judgeWait,
  lookupsIn,
  mostOf,
  PAUSE_MS,
  pausesIn,
  plainOf,
  type Attempt,
  type Kind,
  type Lookup,
  type RunFacts,
  type SeenRequest,
} from './requests.ts';
import { HOUR_SECONDS, LIMITED_SECONDS, LONGER_MS } from './states.ts';

/** What a run says about a rule, with the requests that show it. Without a kind, it says nothing. */
export interface Observation {
  readonly kind?: Kind;
  readonly requests?: readonly SeenRequest[];
}

/** Runs by the state in which they were. */
export type Runs = ReadonlyMap<string, RunFacts>;

/** Judges a rule by a run, compared with the unchanged run. */
export type Judge = (run: RunFacts, unchanged: RunFacts, runs: Runs) => Observation;

/** Whether the test runner repeats red tests, which looks like a client's retry. No client repeats wrong answers. */
const hasReruns = (unchanged: RunFacts, runs: Runs) =>
  ['amount-in-cents', 'membership-inverted']
    .flatMap((id) => runs.get(id) ?? [])
    .some((run) => !run.isGreen && attemptsIn(run, unchanged).some(({ isRepeated }) => isRepeated));

/**
 * Judges how a client repeats lookups that a state refuses at first. If the tests repeat all of them and are green, the
 * client repeats them. If not, other tests may have sent the same request.
 *
 * @param judge judges the lookups that were repeated
 */
const repeats =
  (judge: (attempts: readonly Attempt[]) => Kind): Judge =>
  (run, unchanged, runs) => {
    const attempts = attemptsIn(run, unchanged);
    const repeated = attempts.filter(({ isRepeated }) => isRepeated);
    const own = repeated.filter(({ isOwn }) => isOwn);
    const isProven =
      run.isGreen && own.length > 0 && repeated.length === attempts.length && !hasReruns(unchanged, runs);
    const judged = isProven ? own : repeated;
    const kind = judged.length === 0 ? undefined : judge(judged);
    const requests = judged.flatMap(({ lookup }) => lookup);
    if (isProven) return { kind, requests };
    return kind === 'broken' ? { kind: 'unclear', requests } : {};
  };

export const waits = repeats(judgeWait);
export const waitsLonger = repeats(judgeGrowth);

/** A wait may be too short by this much (ms), because clocks are coarse. */
export const TOLERANCE_MS = 100;

/** Whether a repeat came before the time in Retry-After. Dates have no parts of a second. */
const isEarly = ({ pauses }: Attempt, seconds: number) =>
  pauses.some((pause) => pause < seconds * 1000 - TOLERANCE_MS);

/** In tests with fake timers, some waits take no time. */
export const waitsAsLong = repeats((attempts) =>
  attempts.every((one) => isEarly(one, LIMITED_SECONDS))
    ? 'broken'
    : attempts.some((one) => isEarly(one, LIMITED_SECONDS))
      ? undefined
      : 'kept',
);

/**
 * Judges a client that has to wait for an hour: its tests are red, and nothing comes again. In a world that tests share,
 * others may ask for what is not in a cache.
 */
export const waitsAnHour: Judge = (run, unchanged, runs) => {
  const attempts = attemptsIn(run, unchanged);
  const early = attempts.filter((one) => one.isRepeated && isEarly(one, HOUR_SECONDS));
  if (early.length === 0) return { kind: attempts.length > 0 ? 'kept' : undefined };
  const isOfOneTest = ({ usual, lookup }: Attempt) => usual === 1 && lookup[0]!.world !== '';
  const isProven = early.some(isOfOneTest) && !hasReruns(unchanged, runs);
  return { kind: isProven ? 'broken' : 'unclear', requests: early.flatMap(({ lookup }) => lookup) };
};

/** Repeats within an hour that no tests explain. A busy machine makes each pause longer, but not their number smaller. */
export const MANY_REPEATS = 100;

export const sendsFew: Judge = (run, unchanged) => {
  const many = attemptsIn(run, unchanged).filter(
    ({ pauses, usual }) => pauses.length >= usual + MANY_REPEATS,
  );
  return many.length === 0 ? {} : { kind: 'broken', requests: many.flatMap(({ lookup }) => lookup) };
};

/** Whether a lookup, for which a test set something up, came again after a 429. */
const repeatsInPrepared = (runs: Runs) =>
  [...runs.values()].some(({ requests }) =>
    lookupsIn(requests.filter(({ isSetUp }) => isSetUp)).some((lookup) =>
      lookup.slice(0, -1).some(({ status }) => status === 429),
    ),
  );

/** The states that answer 429 with a wait of at most 3 s. */
export const limitedStates = [
  'limited',
  'limited-without-retry-after',
  'limited-until-date',
  'limited-thrice',
];
/** Time after the last 429, in ms, in which a client that waits would have come again. */
const LIMITED_WAIT_MS = 3000;

/** Whether a lookup ends with a 429, without a repeat or with repeats that are over within a second. */
const isLost = ({ isGivenUp, isRepeated, lookup }: Attempt) =>
  isGivenUp && (!isRepeated || lookup.at(-1)!.elapsedMs < lookup[0]!.elapsedMs + LIMITED_SECONDS * 1000);

/**
 * Judges whether red tests come from a client that gives up at a 429: it loses all its lookups at an endpoint. If other
 * lookups came again, the tests must have gone on for long enough, because a test runner may stop at the first red test.
 * Tests may switch repeats off: then those that set up a 429 get one.
 */
export const givesUp: Judge = (run, unchanged, runs) => {
  const attempts = attemptsIn(run, unchanged);
  if (run.isGreen) return { kind: attempts.some(({ isRepeated }) => isRepeated) ? 'kept' : undefined };
  const lost = endpointNames
    .map((endpoint) => attempts.filter(({ lookup }) => lookup[0]!.endpoint === endpoint))
    .filter((some) => some.every(isLost))
    .flat();
  const requests = lost.flatMap(({ lookup }) => lookup);
  const isOver = run.durationMs > Math.max(...requests.map(({ elapsedMs }) => elapsedMs)) + LIMITED_WAIT_MS;
  if (lost.length === 0 || (!isOver && (run.isStopped || lost.length < attempts.length))) return {};
  const targets = new Set(requests.map(({ target }) => target));
  const comesAgain = limitedStates
    .flatMap((id) => runs.get(id) ?? [])
    .flatMap((other) => attemptsIn(other, unchanged))
    .some(({ lookup, isRepeated }) => isRepeated && targets.has(lookup[0]!.target));
  return { kind: comesAgain || !repeatsInPrepared(runs) ? 'broken' : 'unclear', requests };
};

export const stops: Judge = (run, unchanged, runs) => {
  const found = repeats(() => 'broken')(run, unchanged, runs);
  return found.kind === undefined && run.requests.some(({ isChanged }) => isChanged)
    ? { kind: 'kept' }
    : found;
};

export const requestsHaveNoKey: Judge = ({ requests: all }) => {
  const requests = all.filter(({ keyIn }) => keyIn !== undefined);
  return requests.length > 0 ? { kind: 'broken', requests } : { kind: 'kept' };
};

/** A test runner may have written what looks like a part of a failure, unless all tests are green. */
export const outputHasNoKey: Judge = ({ isGreen, output }) => {
  if (output.withKey > 0 || (isGreen && output.inFailure > 0)) return { kind: 'broken' };
  if (output.inFailure > 0) return { kind: 'unclear' };
  return { kind: output.lines > 0 ? 'kept' : undefined };
};

export const redirectGetsNoKey: Judge = ({ requests, isKeyElsewhere }) => {
  const redirected = requests.filter(({ isChanged }) => isChanged);
  if (isKeyElsewhere) return { kind: 'broken', requests: redirected };
  return { kind: redirected.length > 0 ? 'kept' : undefined };
};

/** Minimum pace of polls, in ms: tests that take turns may have a faster one. */
export const POLL_MS = 100;

/** Whether three of four pauses (ms) differ little from the median: a busy machine makes some longer. */
function isPaced(pauses: readonly number[]): boolean {
  const median = pauses.toSorted((one, other) => one - other)[Math.floor(pauses.length / 2)]!;
  return (
    median >= POLL_MS && pauses.filter((pause) => areEqual(pause, median)).length >= 0.75 * pauses.length
  );
}

/** The requests for a deposit after its first 200. */
const afterExecuted = (lookup: Lookup) => lookup.slice(lookup.findIndex(({ status }) => status === 200) + 1);

/**
 * Whether one test asked for a deposit in a world that tests share: the client polls at once after another lookup on its
 * connection, so that the next test would ask at once, too, and nothing else comes between the polls after the 200.
 */
function isAskedOnce(requests: readonly SeenRequest[], lookup: Lookup): boolean {
  const [first, last] = [lookup[0]!, afterExecuted(lookup)[2]];
  const others = requests.filter((one) => one.lookup !== first.lookup);
  const isJustBefore = ({ connection, elapsedMs: at }: SeenRequest) =>
    connection === first.connection && at <= first.elapsedMs && at > first.elapsedMs - POLL_MS / 2;
  const isBetween = ({ elapsedMs }: SeenRequest) =>
    elapsedMs > first.elapsedMs && elapsedMs < (last?.elapsedMs ?? Infinity);
  return others.some(isJustBefore) && !others.some(isBetween);
}

/**
 * Judges requests after a 200, at the pace of the polls before it. Only a client that goes on sends three or more of
 * them for one test, or no more in all if the deposit stays pending for two polls more.
 */
export const stopsPolling: Judge = (run, unchanged) => {
  const requests = plainOf(unchanged);
  const polled = lookupsIn(requests).filter(
    ([first, ...others]) => first!.status === 404 && others.some(({ status }) => status === 200),
  );
  const all = mostOf(plainOf(run));
  const changed = new Set(run.requests.flatMap(({ isChanged, target }) => (isChanged ? target : [])));
  const goesOn = polled.filter((lookup) => afterExecuted(lookup).length >= 2);
  const proven = goesOn.filter((lookup) => {
    const [pauses, { target, world }] = [pausesIn(lookup), lookup[0]!];
    const isNoMore = run.isGreen && changed.has(target) && all.get(target)! <= lookup.length;
    const isOfOneTest = world !== '' || isAskedOnce(requests, lookup);
    return isPaced(pauses) && (isNoMore || (isOfOneTest && afterExecuted(lookup).length >= 3));
  });
  if (goesOn.length === 0) return { kind: polled.length > 0 ? 'kept' : undefined };
  const shown = proven.length > 0 ? proven : goesOn;
  return { kind: proven.length > 0 ? 'broken' : 'unclear', requests: shown.flatMap(afterExecuted) };
};

/** Polls of a client that just pauses, in the time that the state adds. */
export const MAX_POLLS = LONGER_MS / PAUSE_MS;

/** A longer pause (ms) after a 429 is a wait, and no work of a busy machine. */
const REAL_WAIT_MS = 500;

/** Whether the client waited for a lookup after a 429. In tests with fake timers, waits and pauses take no time. */
const hasWaited = (target: string, unchanged: RunFacts, runs: Runs) =>
  limitedStates
    .flatMap((id) => runs.get(id) ?? [])
    .filter(({ isGreen }) => isGreen)
    .flatMap((run) => attemptsIn(run, unchanged))
    .some(({ lookup, pauses }) => lookup[0]!.target === target && Math.max(...pauses) >= REAL_WAIT_MS);

/** Judges the polls in the time that the state adds. Each test that polls gets one 200 in the unchanged run. */
export const pausesBetweenPolls: Judge = (run, unchanged, runs) => {
  const [asked, pollers] = [
    unchanged.requests,
    unchanged.requests.filter(({ status }) => status === 200),
  ].map(mostOf);
  const polls = lookupsIn(run.requests.filter(({ isChanged }) => isChanged));
  const hasty = polls.filter(([first, ...others]) => {
    const { target } = first!;
    return others.length >= (asked!.get(target) ?? Infinity) + (pollers!.get(target) ?? 0) * MAX_POLLS;
  });
  const isProven =
    hasty.length === polls.length && hasty.every(([first]) => hasWaited(first!.target, unchanged, runs));
  const kind = isProven ? 'broken' : 'unclear';
  if (hasty.length > 0) return { kind, requests: hasty.flat() };
  return { kind: polls.length > 0 ? 'kept' : undefined };
};
