import type { SweptRule } from '../../schemas/generated/types.ts';
import {
  areEqual,
  attemptsIn,
  judgeGrowth,
  judgeWait,
  lookupsIn,
  MIN_REPEATS,
  mostOf,
  PAUSE_MS,
  pausesIn,
  type Attempt,
  type Kind,
  type Lookup,
  type RunFacts,
  type SeenRequest,
} from './requests.ts';
import { LIMITED_SECONDS, LONGER_MS } from './states.ts';

/** What a run says about a rule, with the requests that show it. Without a kind, it says nothing. */
interface Observation {
  readonly kind?: Kind;
  readonly requests?: readonly SeenRequest[];
}

/** Judges a rule by a run, compared with the unchanged run. */
type Judge = (run: RunFacts, unchanged: RunFacts) => Observation;

/** A rule for clients. The documentation's table is derived from this list. */
interface Rule extends Pick<SweptRule, 'title' | 'clause' | 'level'> {
  readonly id: string;
  /** What breaks the rule, and how much of it is allowed. */
  readonly breaks: string;
  readonly advice: string;
  /** What must have happened to judge the rule. */
  readonly needs: string;
  /** Judges the runs of the states with these ids. */
  readonly judge: Judge | Readonly<Record<string, Judge>>;
}

/**
 * Judges how a client repeats lookups that a state refuses at first. If the tests repeat all of them and are green, the
 * client repeats them. If not, other tests may have sent the same request.
 *
 * @param judge judges the lookups that were repeated
 */
const repeats =
  (judge: (attempts: readonly Attempt[]) => Kind): Judge =>
  (run, unchanged) => {
    const attempts = attemptsIn(run, unchanged);
    const repeated = attempts.filter(({ isRepeated }) => isRepeated);
    const own = repeated.filter(({ isOwn }) => isOwn);
    const isProven = run.isGreen && own.length > 0 && repeated.length === attempts.length;
    const judged = isProven ? own : repeated;
    const kind = judged.length === 0 ? undefined : judge(judged);
    const requests = judged.flatMap(({ lookup }) => lookup);
    if (isProven) return { kind, requests };
    return kind === 'broken' ? { kind: 'unclear', requests } : {};
  };

const waits = repeats(judgeWait);
const waitsLonger = repeats(judgeGrowth);
/** A wait may be too short by this much (ms), because clocks are coarse. */
const TOLERANCE_MS = 100;
const waitsAsLong = repeats((attempts) => {
  const shortest = Math.min(...attempts.flatMap(({ pauses }) => pauses));
  return shortest < LIMITED_SECONDS * 1000 - TOLERANCE_MS ? 'broken' : 'kept';
});

const stops: Judge = (run, unchanged) => {
  const found = repeats(() => 'broken')(run, unchanged);
  return found.kind === undefined && run.requests.some(({ isChanged }) => isChanged)
    ? { kind: 'kept' }
    : found;
};

const requestsHaveNoKey: Judge = ({ requests: all }) => {
  const requests = all.filter(({ keyIn }) => keyIn !== undefined);
  return requests.length > 0 ? { kind: 'broken', requests } : { kind: 'kept' };
};

/** What pytest prints of a failure: arguments of functions, and values in an assertion. */
export const RUNNER_LINE = /^\s*\w+\s+= |^E\s+(?:\+|assert|[-?]) /;

const outputHasNoKey: Judge = ({ isGreen, output }, { output: before }) => {
  // A red run may print more than the client does.
  const isProven = before.withKey === 0 || isGreen;
  if (isProven && output.withKey > before.withKey) return { kind: 'broken' };
  if (output.withKey + output.byRunner > 0) return { kind: 'unclear' };
  return { kind: output.lines > 0 ? 'kept' : undefined };
};

const redirectGetsNoKey: Judge = ({ requests, isKeyElsewhere }) => {
  const redirected = requests.filter(({ isChanged }) => isChanged);
  if (isKeyElsewhere) return { kind: 'broken', requests: redirected };
  return { kind: redirected.length > 0 ? 'kept' : undefined };
};

/** Minimum pace of polls, in ms: tests that take turns may have a faster one. */
const POLL_MS = 100;

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
 * Judges requests after a 200, at the pace of the polls before it. Only a client that goes on sends three or more of
 * them in the world of one test, or no more in all if the deposit stays pending for two polls more.
 */
const stopsPolling: Judge = (run, unchanged) => {
  const polled = lookupsIn(unchanged.requests).filter(
    ([first, ...others]) => first!.status === 404 && others.some(({ status }) => status === 200),
  );
  const all = mostOf(run.requests);
  const changed = new Set(run.requests.flatMap(({ isChanged, target }) => (isChanged ? target : [])));
  const goesOn = polled.filter((lookup) => afterExecuted(lookup).length >= 2);
  const proven = goesOn.filter((lookup) => {
    const [pauses, { target, world }] = [pausesIn(lookup), lookup[0]!];
    const isNoMore = run.isGreen && changed.has(target) && all.get(target)! <= lookup.length;
    return isPaced(pauses) && (isNoMore || (world !== '' && afterExecuted(lookup).length >= 3));
  });
  if (goesOn.length === 0) return { kind: polled.length > 0 ? 'kept' : undefined };
  const shown = proven.length > 0 ? proven : goesOn;
  return { kind: proven.length > 0 ? 'broken' : 'unclear', requests: shown.flatMap(afterExecuted) };
};

/** Polls of a client that just pauses, in the time that the state adds. */
const MAX_POLLS = LONGER_MS / PAUSE_MS;

/** Judges the polls in the time that the state adds. Each test that polls gets one 200 in the unchanged run. */
const pausesBetweenPolls: Judge = (run, unchanged) => {
  const [asked, pollers] = [
    unchanged.requests,
    unchanged.requests.filter(({ status }) => status === 200),
  ].map(mostOf);
  const polls = lookupsIn(run.requests.filter(({ isChanged }) => isChanged));
  const hasty = polls.filter(([first, ...others]) => {
    const { target } = first!;
    return others.length >= (asked!.get(target) ?? Infinity) + (pollers!.get(target) ?? 0) * MAX_POLLS;
  });
  if (hasty.length > 0) return { kind: 'broken', requests: hasty.flat() };
  return { kind: polls.length > 0 ? 'kept' : undefined };
};

/** The other reading of what is unclear. */
const OTHERWISE = 'several tests, or the test runner, did the same';

export const rules: readonly Rule[] = [
  {
    id: 'wait',
    title: 'Paused before it repeated a request after a 429',
    clause: 'Errors, 429',
    level: 'required',
    breaks: `${MIN_REPEATS} or more repeats, after less than ${PAUSE_MS} ms on average, and not longer each time`,
    advice: 'after a 429, wait as long as Retry-After says, or longer each time',
    needs: 'a request that is repeated after a 429',
    judge: {
      limited: waits,
      'limited-without-retry-after': waits,
      'limited-until-date': waits,
      'limited-thrice': waits,
    },
  },
  {
    id: 'key-out-of-url',
    title: 'Kept the key out of the URL and of other header fields than Authorization',
    clause: 'Authentication 1',
    level: 'required',
    breaks: 'a URL or another header field that contains the key, in any encoding',
    advice: 'send the key only in the Authorization header, and replace it: URLs are logged',
    needs: 'a request',
    judge: requestsHaveNoKey,
  },
  {
    id: 'key-out-of-output',
    title: 'Kept the key out of the output',
    clause: 'Authentication 1',
    level: 'required',
    breaks:
      'a line of output with the key, in any encoding; if the unchanged run has such lines, more of them in a green run',
    advice: 'do not write the Authorization header or the key to a log',
    needs: 'output of the tests',
    judge: outputHasNoKey,
  },
  {
    id: 'key-for-origin',
    title: 'Kept the key from another origin',
    clause: 'Authentication 1',
    level: 'required',
    breaks: 'a redirect to another host name and port, where the key arrives',
    advice: 'follow no redirects, or drop the Authorization header if host or port differ (RFC 6750, 5.3)',
    needs: 'a request that is redirected',
    judge: { redirected: redirectGetsNoKey },
  },
  {
    id: 'refused-request',
    title: 'Did not repeat a refused or invalid request unchanged',
    clause: 'Errors, 400 and 401',
    level: 'required',
    breaks:
      'green tests although each of their lookups got 401, or 400, at first: all came again with the same key',
    advice: 'stop at a 400 or 401 and alert a person: a retry makes neither the key nor the id valid',
    needs: 'a 400 or 401',
    judge: { 'refused-once': stops, 'invalid-once': stops },
  },
  {
    id: 'polling',
    title: 'Stopped polling a deposit that was EXECUTED',
    clause: 'States and transitions',
    level: 'required',
    breaks: `requests after the 200 at the pace of the polls, ${POLL_MS} ms or slower: three or more in a world, or two or more if more-polls does not get more requests`,
    advice: 'stop at the first 200 and keep its result: an EXECUTED deposit stays EXECUTED',
    needs: 'a deposit with a 404 and then a 200',
    judge: { unchanged: stopsPolling, 'more-polls': stopsPolling },
  },
  {
    id: 'poll-pace',
    title: `Paused at least ${PAUSE_MS} ms between polls of a deposit`,
    clause: 'States and transitions',
    level: 'advice',
    breaks: `in ${LONGER_MS} ms, more polls than in the unchanged run and ${MAX_POLLS} for each 200 there`,
    advice: 'wait a second or longer between two polls',
    needs: 'a deposit that polls execute',
    judge: { 'pending-longer': pausesBetweenPolls },
  },
  {
    id: 'back-off',
    title: 'Waited as long as Retry-After says, or longer each time',
    clause: 'Errors, 429',
    level: 'advice',
    breaks: `a repeat ${TOLERANCE_MS} ms before the time in Retry-After; without it, after 429 or 5xx, the same as for wait, or pauses of two requests that are the same (20 % and 10 ms) and never longer than the first`,
    advice:
      'after each 429 or 5xx, wait as long as Retry-After says, or double the wait, and give up in the end',
    needs: 'requests that are repeated after 429 or 5xx',
    judge: {
      limited: waitsAsLong,
      'limited-until-date': waitsAsLong,
      'limited-thrice': waitsLonger,
      '503-thrice': waitsLonger,
    },
  },
];

/** Maximum of requests that the report shows for a rule. */
const MAX_SHOWN = 5;

/**
 * Judges each rule by the strongest of what the runs show. The unchanged run shows how often the tests themselves send
 * each request; a rule is `broken` only if several tests cannot explain what came.
 *
 * @param runs by state
 * @param allow the reasons of accepted rules
 */
export function judgeRules(
  runs: ReadonlyMap<string, RunFacts>,
  allow: ReadonlyMap<string, string>,
): SweptRule[] {
  const unchanged = runs.get('unchanged');
  if (unchanged === undefined) return [];
  return rules.map(({ id, title, clause, level, advice, needs, breaks, judge }) => {
    const seen = [...runs].map(([state, run]) => {
      const judgeRun = typeof judge === 'function' ? judge : judge[state];
      return { state, ...judgeRun?.(run, unchanged) };
    });
    const strongest = (['broken', 'unclear', 'kept'] as const).find((one) =>
      seen.some(({ kind }) => kind === one),
    );
    const shown = seen.filter(({ kind }) => kind !== undefined && kind === strongest);
    const reason = strongest === 'broken' ? allow.get(id) : undefined;
    return {
      rule: id,
      title,
      clause,
      level,
      outcome: reason === undefined ? (strongest ?? 'notSeen') : 'allowed',
      states: shown.map(({ state }) => state),
      ...(reason !== undefined && reason !== '' && { reason }),
      ...(strongest === 'unclear' && { readings: [OTHERWISE, `the client broke the rule: ${breaks}`] }),
      ...(strongest !== 'kept' &&
        shown.length > 0 && { requests: shown.flatMap(requestLines).slice(0, MAX_SHOWN), advice }),
      ...(strongest === undefined && { needs }),
    };
  });
}

/** The mock redacts targets. If one contained the key, the rest is not shown either. */
const requestLines = ({ requests = [] }: Observation) =>
  requests.map(
    ({ method, target, keyIn, status, elapsedMs }) =>
      `${method} ${keyIn === 'target' ? '…' : target} → ${status}, ${elapsedMs} ms`,
  );
