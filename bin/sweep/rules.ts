import type { SweptRule } from '../../schemas/generated/types.ts';
import {
  givesUp,
  limitedStates,
  MANY_REPEATS,
  MAX_POLLS,
  outputHasNoKey,
  pausesBetweenPolls,
  POLL_MS,
  redirectGetsNoKey,
  requestsHaveNoKey,
  sendsFew,
  stops,
  stopsPolling,
  TOLERANCE_MS,
  waits,
  waitsAnHour,
  waitsAsLong,
  waitsLonger,
  type Judge,
  type Observation,
  type Runs,
} from './judges.ts';
import { lookupsIn, MIN_REPEATS, PAUSE_MS, pausesIn } from './requests.ts';
import { LONGER_MS } from './states.ts';

/** A rule for clients. The documentation's table is derived from this list. */
interface Rule extends Pick<SweptRule, 'title' | 'clause' | 'level'> {
  readonly id: string;
  /** What breaks the rule, and how much of it is allowed. */
  readonly breaks: string;
  readonly advice: string;
  /** What must have happened to judge the rule. */
  readonly needs: string;
  /** What else may explain unclear requests. */
  readonly otherwise?: string;
  /** Judges the runs of the states with these ids. */
  readonly judge: Judge | Readonly<Record<string, Judge>>;
}

/** The same judge for each state that answers 429. */
const forLimited = (judge: Judge) => Object.fromEntries(limitedStates.map((id) => [id, judge]));

/** What else may explain unclear requests. */
const OTHERWISE = 'several tests, or the test runner, did the same';

export const rules: readonly Rule[] = [
  {
    id: 'wait',
    title: 'Pauses before it repeats a request after a 429',
    clause: 'Errors: waiting after 429',
    level: 'required',
    breaks: `${MIN_REPEATS} or more repeats, after less than ${PAUSE_MS} ms on average, and not longer each time; or ${MANY_REPEATS} or more within an hour of Retry-After`,
    advice: 'after a 429, wait as long as Retry-After says, or longer each time',
    needs: 'a request that is repeated after a 429',
    judge: { ...forLimited(waits), 'limited-for-an-hour': sendsFew },
  },
  {
    id: 'repeat',
    title: 'Repeats a request after a 429 as soon as it may, and not earlier',
    clause: 'Errors: waiting after 429',
    level: 'required',
    breaks:
      'red tests, and at an endpoint all lookups that got 429 end with it: without a repeat, or with repeats that are over within a second',
    advice:
      'after a 429, wait as long as Retry-After says (seconds or a date), or longer each time, and retry',
    needs: 'a request that is repeated after a 429, or red tests without one',
    otherwise: 'these tests switch repeats off: others set up a 429 by themselves, and get a repeat',
    judge: forLimited(givesUp),
  },
  {
    id: 'key-out-of-url',
    title: 'Keeps the key out of the URL and of other header fields than Authorization',
    clause: 'Authentication: the header',
    level: 'required',
    breaks: 'a URL or another header field that contains the key, in any encoding',
    advice: 'send the key only in the Authorization header, and replace it: URLs are logged',
    needs: 'a request',
    judge: requestsHaveNoKey,
  },
  {
    id: 'key-out-of-output',
    title: 'Keeps the key out of the output',
    clause: 'Authentication: the header',
    level: 'required',
    breaks:
      'a line of output with the key, in any encoding, but for names of tests, and for red tests what test runners write of a failure',
    advice: 'do not write the Authorization header or the key to a log',
    needs: 'output of the tests',
    otherwise: 'the test runner wrote the lines, because tests were red',
    judge: outputHasNoKey,
  },
  {
    id: 'key-for-origin',
    title: 'Keeps the key from another origin',
    clause: 'Authentication: the header',
    level: 'required',
    breaks: 'a redirect to another host name and port, where the key arrives',
    advice: 'follow no redirects, or drop the Authorization header if host or port differ (RFC 6750, 5.3)',
    needs: 'a request that is redirected',
    judge: { redirected: redirectGetsNoKey },
  },
  {
    id: 'refused-request',
    title: 'Does not repeat a refused or invalid request unchanged',
    clause: 'Errors: exact messages',
    level: 'required',
    breaks:
      'green tests although each of their lookups got 401, or 400, at first: all came again with the same key',
    advice: 'stop at a 400 or 401 and alert a person: a retry makes neither the key nor the id valid',
    needs: 'a 400 or 401',
    judge: { 'refused-once': stops, 'invalid-once': stops },
  },
  {
    id: 'polling',
    title: 'Stops polling a deposit that is EXECUTED',
    clause: 'Deposit states: executed later',
    level: 'required',
    breaks: `requests after the 200 at the pace of the polls, ${POLL_MS} ms or slower: three or more for one test, or two or more if more-polls does not get more requests`,
    advice: 'stop at the first 200 and keep its result: an EXECUTED deposit stays EXECUTED',
    needs: 'a deposit with a 404 and then a 200',
    otherwise: 'several tests look at the deposit; a world for each test would tell',
    judge: { unchanged: stopsPolling, 'more-polls': stopsPolling },
  },
  {
    id: 'poll-pace',
    title: `Pauses at least ${PAUSE_MS} ms between polls of a deposit`,
    clause: 'Deposit states: executed later',
    level: 'advice',
    breaks: `in ${LONGER_MS} ms, more polls than in the unchanged run and ${MAX_POLLS} for each 200 there, although a green run shows a wait for the deposit after a 429`,
    advice: 'wait a second or longer between two polls',
    needs: 'a deposit that polls execute',
    otherwise: 'some tests have fake timers',
    judge: { 'pending-longer': pausesBetweenPolls },
  },
  {
    id: 'back-off',
    title: 'Waits as long as Retry-After says, or longer each time',
    clause: 'Errors: waiting after 429',
    level: 'advice',
    breaks: `a repeat ${TOLERANCE_MS} ms before the time in Retry-After; without it, after 429 or 5xx, the same as for wait, or pauses of two requests that are the same (10 % and 10 ms), and even or falling`,
    advice:
      'after each 429 or 5xx, wait as long as Retry-After says, or double the wait, and give up in the end',
    needs: 'requests that are repeated after 429 or 5xx',
    judge: {
      limited: waitsAsLong,
      'limited-until-date': waitsAsLong,
      'limited-for-an-hour': waitsAnHour,
      'limited-thrice': waitsLonger,
      '503-thrice': waitsLonger,
    },
  },
];

/**
 * Judges each rule by the strongest of what the runs show. The unchanged run shows how often the tests themselves send
 * each request; a rule is `broken` only if several tests cannot explain what came. What a test set up explains the
 * requests in its world.
 *
 * @param runs by state
 * @param allow the reasons of accepted rules
 */
export function judgeRules(runs: Runs, allow: ReadonlyMap<string, string>): SweptRule[] {
  const unchanged = runs.get('unchanged');
  if (unchanged === undefined) return [];
  return rules.map(({ id, title, clause, level, advice, needs, otherwise = OTHERWISE, breaks, judge }) => {
    const seen = [...runs].map(([state, run]) => {
      const judgeRun = typeof judge === 'function' ? judge : judge[state];
      return { state, ...judgeRun?.(run, unchanged, runs) };
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
      ...(strongest === 'unclear' && { readings: [otherwise, `the client broke the rule: ${breaks}`] }),
      ...(strongest !== 'kept' && shown.length > 0 && { requests: shown.flatMap(requestLines), advice }),
      ...(strongest === undefined && { needs }),
    };
  });
}

/** The mock redacts targets. If one contained the key, the rest is not shown either. */
const requestLines = ({ requests = [] }: Observation) =>
  lookupsIn(requests).flatMap((lookup) => {
    const pauses = pausesIn(lookup);
    return lookup.map(({ method, target, keyIn, status, elapsedMs, retryAfterSeconds }, at) => {
      const after = retryAfterSeconds === undefined ? '' : `, Retry-After ${retryAfterSeconds} s`;
      const when = at === 0 ? `at ${elapsedMs} ms` : `${Math.round(pauses[at - 1]!)} ms later`;
      return `${when}: ${method} ${keyIn === 'target' ? '…' : target} → ${status || 'no answer'}${after}`;
    });
  });
