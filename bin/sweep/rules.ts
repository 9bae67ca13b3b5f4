import type { JournalLine } from '../../mock/journal.ts';
import { callerOf, gradeOf, scorecardOf, waitMs, type Grade } from './scorecard.ts';
import {
  CLOCK_TOLERANCE_MS,
  paceOf,
  POLL_PAUSE_MS,
  POLL_WINDOW_MS,
  rules,
  type RuleId,
} from './rule-table.ts';

/** A request of a run, with whether the state changed its answer. */
export interface SeenRequest extends JournalLine {
  readonly isChanged: boolean;
  /** Whether path or query contained the key of the run. */
  readonly hasKeyInTarget: boolean;
}

/** What a run showed. */
export interface RunFacts {
  readonly isGreen: boolean;
  readonly requests: readonly SeenRequest[];
  /** The lines of output, those with the key of the run, and those of them that a test runner writes. */
  readonly output: { readonly lines: number; readonly withKey: number; readonly byRunner: number };
  /** Whether the key arrived at the origin of the redirect. */
  readonly isKeyElsewhere: boolean;
}

export type Runs = ReadonlyMap<string, RunFacts>;

/** A rule with the states that showed it. */
export interface JudgedRule {
  readonly grade: Grade;
  readonly states: readonly string[];
}

const UNCHANGED = 'unchanged';
/** Seconds in the Retry-After of all states. */
export const LIMITED_SECONDS = 1;
/** Time that the state `pending-longer` adds, in ms. */
export const LONGER_MS = 300;

type Kind = 'kept' | 'broken' | 'unclear' | undefined;
/** What a run says about a rule, with the requests that show it. */
interface Observation {
  readonly kind: Kind;
  readonly requests?: readonly SeenRequest[];
}
const notSeen: Observation = { kind: undefined };

function byTarget(requests: readonly SeenRequest[]): ReadonlyMap<string, readonly SeenRequest[]> {
  const groups = new Map<string, SeenRequest[]>();
  for (const request of requests)
    if (groups.get(request.target)?.push(request) === undefined) groups.set(request.target, [request]);
  return groups;
}

/** The requests whose first answers a state changed, and how the client went on. */
function attemptsIn(run: RunFacts, unchanged: RunFacts) {
  const before = byTarget(unchanged.requests);
  return [...byTarget(run.requests)].flatMap(([target, all]) => {
    const first = all.findIndex(({ isChanged }) => isChanged);
    if (first < 0) return [];
    const after = all.slice(first);
    const last = after.findLastIndex(({ isChanged }) => isChanged);
    const pauses = after.slice(0, last + 1).flatMap((answer, index) => {
      const next = after[index + 1];
      return next === undefined ? [] : [waitMs(answer, next)];
    });
    // If the unchanged run sends it once, one test sends it, or several share an answer.
    const isSingle = before.get(target)?.length === 1;
    return [{ after, pauses, isSingle, isRepeated: all.length > (before.get(target)?.length ?? 0) }];
  });
}

/**
 * Judges answers that only the first requests got: if the tests are green all the same, the client repeated each of
 * them until it got the usual answer. If they are red, other tests may have sent the same request.
 */
const judgeAttempts =
  (kindOf: (attempts: ReturnType<typeof attemptsIn>) => Kind) =>
  (run: RunFacts, unchanged: RunFacts): Observation => {
    const attempts = attemptsIn(run, unchanged);
    const repeated = attempts.filter(({ isRepeated }) => isRepeated);
    if (repeated.length === 0) return notSeen;
    const isProven =
      run.isGreen && repeated.length === attempts.length && repeated.every((one) => one.isSingle);
    const requests = repeated.flatMap(({ after }) => after);
    const kind = kindOf(repeated);
    if (kind === 'kept') return { kind: run.isGreen ? 'kept' : undefined };
    return { kind: kind === 'broken' && isProven ? 'broken' : 'unclear', requests };
  };

const paceIn = (attempts: ReturnType<typeof attemptsIn>) => paceOf(attempts.map(({ pauses }) => pauses));
const judgePause = judgeAttempts((attempts) => (paceIn(attempts) === 'none' ? 'broken' : 'kept'));
/** Three even pauses of one request are too few to tell them from random ones. */
const judgeGrowth = (wrong: readonly ReturnType<typeof paceOf>[]) =>
  judgeAttempts((attempts) => {
    const pace = paceIn(attempts);
    if (wrong.includes(pace)) return 'broken';
    return pace === 'unknown' ? 'unclear' : 'kept';
  });

/** A caller that waited sends its request after the time in Retry-After. */
const judgeRetryAfter = judgeAttempts((attempts) => {
  const isNeverLate = attempts.some(({ after, pauses }) => {
    const last = after.findLast(({ isChanged }) => isChanged)!;
    const limit = LIMITED_SECONDS * 1000 - CLOCK_TOLERANCE_MS;
    return pauses.some((pause) => pause < limit) && !after.some((entry) => waitMs(last, entry) >= limit);
  });
  return isNeverLate ? 'broken' : 'kept';
});

/** For a client that never repeats: kept, if it got the changed answer. */
const judgeRefused = (run: RunFacts, unchanged: RunFacts): Observation => {
  const attempts = attemptsIn(run, unchanged);
  const sight = judgeAttempts(() => 'broken')(run, unchanged);
  return sight.kind === undefined && attempts.length > 0 ? { kind: 'kept' } : sight;
};

const judgeRetry = (run: RunFacts, unchanged: RunFacts): Observation => {
  const attempts = attemptsIn(run, unchanged);
  if (attempts.length === 0) return notSeen;
  if (attempts.some(({ isRepeated }) => isRepeated)) return { kind: 'kept' };
  return run.isGreen ? notSeen : { kind: 'broken', requests: attempts.flatMap(({ after }) => after) };
};

/** More polls in a window than all tests together send, even if each pauses, show a missing pause. */
export function isHasty(run: Pick<RunFacts, 'requests'>, unchanged: Pick<RunFacts, 'requests'>): boolean {
  const before = byTarget(unchanged.requests);
  return [...byTarget(run.requests)].some(([target, all]) => {
    if (!all.some(({ isChanged }) => isChanged)) return false;
    const asked = before.get(target) ?? [];
    const pollers = asked.filter(({ status }) => status === 200).length;
    const most = asked.length + pollers * (POLL_WINDOW_MS / POLL_PAUSE_MS);
    return all.some((first, at) => {
      const other = all[at + most];
      return other !== undefined && waitMs(first, other) < POLL_WINDOW_MS;
    });
  });
}

/** Polls of a client that just pauses, in the time that the state adds. */
const MOST_POLLS = LONGER_MS / POLL_PAUSE_MS;

const judgePolls = (run: RunFacts, unchanged: RunFacts): Observation => {
  const polls = run.requests.filter(({ isChanged }) => isChanged);
  if (polls.length === 0) return notSeen;
  if (isHasty(run, unchanged)) return { kind: 'broken', requests: polls };
  // As many polls as a single client without a pause, but several tests may poll.
  return { kind: polls.length > MOST_POLLS ? 'unclear' : 'kept', requests: polls };
};

const judgeRedirect = (run: RunFacts): Observation => {
  const redirected = run.requests.filter(({ isChanged }) => isChanged);
  if (run.isKeyElsewhere) return { kind: 'broken', requests: redirected };
  return { kind: redirected.length > 0 ? 'kept' : undefined };
};

/** A repeat without the key that the unchanged run always sends with this request. */
const judgeHeader = (run: RunFacts, unchanged: RunFacts): Observation => {
  const isKeyless = (one: SeenRequest) => one.endpoint !== undefined && callerOf(one) === undefined;
  const without = new Set(unchanged.requests.filter(isKeyless).map(({ target }) => target));
  const known = new Set(unchanged.requests.map(({ target }) => target));
  const lost = run.requests.filter(
    (one) => isKeyless(one) && known.has(one.target) && !without.has(one.target),
  );
  return lost.length > 0 ? { kind: 'broken', requests: lost } : notSeen;
};

/** Another method, which the unchanged run never uses. */
const judgeMethod = (run: RunFacts, unchanged: RunFacts): Observation => {
  const isOther = ({ method }: SeenRequest) => method !== 'GET' && method !== 'OPTIONS';
  const requests = unchanged.requests.some(isOther) ? [] : run.requests.filter(isOther);
  return requests.length > 0 ? { kind: 'broken', requests } : notSeen;
};

type JudgeRun = (run: RunFacts, unchanged: RunFacts) => Observation;

/** The states that show each rule, with what they show. The unchanged run shows the others. */
const judges: Partial<Record<RuleId, Readonly<Record<string, JudgeRun>>>> = {
  wait: {
    'limited-twice': judgePause,
    'limited-until-date': judgePause,
    'limited-thrice': judgePause,
  },
  'retry-after': { 'limited-twice': judgeRetryAfter, 'limited-until-date': judgeRetryAfter },
  'back-off': { 'limited-thrice': judgeGrowth(['even']) },
  retry: { 'limited-twice': judgeRetry },
  'server-errors': { '503-thrice': judgeGrowth(['none', 'even']) },
  'poll-pace': { 'pending-longer': judgePolls },
  'refused-request': { 'invalid-once': judgeRefused },
  'refused-key': { 'refused-once': judgeRefused },
  'key-for-origin': { redirected: judgeRedirect },
};

/** What pytest prints of a failure: arguments of functions, and values in an assertion. */
export const RUNNER_LINE = /^\s*\w+\s+= |^E\s+(?:\+|assert|[-?]) /;

/** Rules that a single run shows, in any state. */
const everywhere: Partial<Record<RuleId, JudgeRun>> = {
  'key-out-of-url': ({ requests }) => {
    const found = requests.filter(({ hasKeyInTarget }) => hasKeyInTarget);
    if (found.length > 0) return { kind: 'broken', requests: found };
    return { kind: requests.length > 0 ? 'kept' : undefined };
  },
  'key-out-of-output': ({ isGreen, output: { lines, withKey, byRunner } }, { output: before }) => {
    // A red run may print more than the client does.
    const isProven = before.withKey === 0 || isGreen;
    if (isProven && withKey > before.withKey) return { kind: 'broken' };
    if (withKey + byRunner > 0) return { kind: 'unclear' };
    return { kind: lines > 0 ? 'kept' : undefined };
  },
  authorization: judgeHeader,
  'get-only': judgeMethod,
};

/** Rules that the requests of the unchanged run show, in any world: its answers are those of the interface. */
const ofUnchanged: ReadonlySet<RuleId> = new Set(['polling', 'encoding', 'authorization', 'get-only']);

/**
 * Judges each rule by all runs of the tests. The unchanged run shows how often the tests themselves send each
 * request; a rule is `broken` only if several tests cannot explain what came.
 */
export function judgeRules(runs: Runs): readonly JudgedRule[] {
  const unchanged = runs.get(UNCHANGED);
  if (unchanged === undefined) return [];
  const card = scorecardOf(unchanged.requests.map((entry) => ({ ...entry, world: '' })));
  return rules.map((rule) => {
    const seen = [...runs].map(([state, run]) => {
      const judge = judges[rule.id]?.[state] ?? everywhere[rule.id];
      return { state, ...(judge?.(run, unchanged) ?? notSeen) };
    });
    const first = card.find(({ id }) => id === rule.id);
    if (first !== undefined && ofUnchanged.has(rule.id)) {
      const kind = first.outcome === 'notSeen' ? undefined : first.outcome;
      seen.unshift({ state: UNCHANGED, kind, requests: (first.requests ?? []) as readonly SeenRequest[] });
    }
    return judged(rule, seen);
  });
}

/** Judges a rule by the strongest of what the runs show. */
function judged(
  rule: (typeof rules)[number],
  seen: readonly (Observation & { readonly state: string })[],
): JudgedRule {
  const outcomes = ['broken', 'unclear', 'kept'] as const;
  const outcome = outcomes.find((one) => seen.some(({ kind }) => kind === one)) ?? 'notSeen';
  const shown = seen.filter(({ kind }) => kind === outcome);
  const requests = shown.flatMap((sight) => sight.requests ?? []);
  const states = [...new Set(shown.map(({ state }) => state))];
  return { grade: gradeOf(rule, outcome, shown.length, requests), states };
}
