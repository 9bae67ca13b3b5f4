import { defined } from '../../schemas/defined.ts';
import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Need, Other, Plan } from '../../schemas/plan.ts';
import { createCoverage } from '../engine/order.ts';
import { createLookups, type Lookup } from '../engine/lookups.ts';
import type { RunOptions } from '../engine/run-options.ts';
import { schedule } from '../engine/schedule.ts';
import { withSpare } from '../model/entities.ts';
import { isLookupRow, type Requirement } from '../requirement.ts';
import { courseOf, STAGES, type Course, type Setup } from './course.ts';
import { statedLimits, type RateLimit } from './limit.ts';
import type { SoFar } from './so-far.ts';

export type PlanOptions = Pick<
  RunOptions,
  | 'known'
  | 'requirements'
  | 'skip'
  | 'seed'
  | 'cases'
  | 'maxDurationMs'
  | 'maxRequests'
  | 'rate'
  | 'graceMs'
  | 'stateHook'
> & {
  /** Limits to plan with; without them, those that the fixture states. */
  readonly limits?: Readonly<Partial<Record<Endpoint, RateLimit>>>;
  /** What the run has done, for a plan of its rest. */
  readonly soFar?: SoFar;
  /** Whether to tell what other bounds and more keys give. */
  readonly comparesBounds?: boolean;
};

/** The most lookups per endpoint that are walked through. Further ones are random: they take as long as the others. */
const MAX_WALKED = 4000;

/** Bounds (ms) and numbers of keys that a plan compares. */
const BOUNDS_MS = [60_000, 300_000, 900_000, Number.POSITIVE_INFINITY];
const KEYS = [2, 10];

/** A minute, in ms: advice is rounded up to it. */
const MINUTE_MS = 60_000;

/**
 * Tells how a run will go: requests, time and strength. It walks through the lookups by the rules that the run keeps
 * to, without drawing a request. Times are in ms, without the response times of the target.
 */
export function plan(options: PlanOptions): Plan {
  const {
    known,
    requirements,
    skip,
    cases,
    maxDurationMs,
    seed,
    rate,
    limits = statedLimits(known),
    soFar,
  } = options;
  const setup = setupOf(options, limits);
  const keys = known.callerKeys.length;
  const course = courseOf(setup, maxDurationMs, keys);
  const isSlow = rate !== undefined || endpointNames.some((name) => limits[name] !== undefined);
  const isBounded =
    options.maxRequests < Infinity ||
    (maxDurationMs < Infinity && (isSlow || course.durationMs >= maxDurationMs));
  const whole = isBounded ? courseOf({ ...setup, maxRequests: Infinity }, Infinity, keys) : course;
  const coverage = createCoverage(known, seed);
  for (const { endpoint, levels } of course.sent) coverage.take(endpoint, levels);
  const { strength, coverage: figures } = coverage.figures();
  const isWalkCut =
    course.sent.length < whole.sent.length ||
    course.notCompared.length > whole.notCompared.length ||
    (course.changesMs > 0 && whole.durationMs > maxDurationMs);
  // Further lookups take as many requests and as long as those that were walked through.
  const times = isWalkCut ? 1 : Math.max(1, cases / MAX_WALKED);
  const timeOf = ({ durationMs, changesMs }: Course) => (durationMs - changesMs) * times + changesMs;
  const [needed, neededMs] = [course.requests * times, timeOf(course)];
  const part = Math.min(1, options.maxRequests / Math.max(1, needed), maxDurationMs / Math.max(1, neededMs));
  const isCut = isWalkCut || part < 1;
  return {
    requests: Math.round(needed * part),
    durationMs: neededMs * part,
    strength,
    keys,
    load: endpointNames.map((endpoint) => ({
      endpoint,
      counted: course.counted[endpoint],
      limitedMs: limits[endpoint]?.windowMs ?? 0,
      ...defined({ limit: limits[endpoint] }),
    })),
    leftOut: leftOut(
      setup,
      course,
      requirements.filter(({ id }) => !skip.has(id)),
    ),
    notCompared: course.notCompared,
    ...defined({
      sent: soFar?.requests,
      because: course.isOutOfRequests ? '--max-requests' : isCut ? '--max-duration' : undefined,
    } as const),
    others: options.comparesBounds === true && isSlow && keys > 0 ? othersOf(setup, keys) : [],
    needs: isBounded ? needsOf(strength, whole) : [],
    wholeMs: timeOf(whole),
    coverage: figures,
  };
}

function setupOf(
  { known: all, requirements, skip, cases, seed, rate, maxRequests, graceMs, stateHook, soFar }: PlanOptions,
  limits: Setup['limits'],
): Setup {
  const known = stateHook === undefined ? all : withSpare(all);
  const asked = requirements.filter(({ id }) => !skip.has(id));
  const most = Math.min(cases, MAX_WALKED);
  const source = createLookups({ known, seed, cases: most }, asked.filter(isLookupRow));
  const [levels, pairs, triples] = STAGES;
  const lookups: Record<Endpoint, Lookup[]> = { 'user-status': [], 'deposit-check': [] };
  for (const name of endpointNames) lookups[name].push(...source.next(name, ...levels!, ...pairs!));
  // The endpoints share a bound on deep rows.
  const deep = endpointNames.map((name) => source.next(name, ...triples!));
  for (let isMore = true; isMore;) {
    isMore = false;
    for (const { value, done } of deep.map((one) => one.next())) {
      if (done === true) continue;
      isMore = true;
      lookups[value.endpoint].push(value);
    }
  }
  const scenarios = schedule(asked.filter((one) => soFar?.isDone(one) !== true));
  const changes = changesOf(known, scenarios, stateHook !== undefined);
  const bounds = { cases: most, graceMs, rate, maxRequests };
  return {
    limits,
    stated: statedLimits(known),
    lookups,
    scenarios,
    changes,
    ...bounds,
    ...defined({ soFar }),
  };
}

/** When a run changes the target's data. Each change takes the grace. */
function changesOf(
  known: PlanOptions['known'],
  { becoming, alone }: Setup['scenarios'],
  hasHook: boolean,
): Setup['changes'] {
  const { pending, spare, callerKeys, otherKeys } = known;
  const executes = becoming.length > 0 && (known.becoming.length > 0 || (hasHook && pending.length > 0));
  const revokes = hasHook && alone.length > 0 && callerKeys.length > 0;
  const hasOneKey = callerKeys.length + otherKeys.length < 2;
  return {
    ...(executes && {
      execution: pending.length === 0 || !hasHook || spare !== undefined ? 'beside' : 'after',
    }),
    ...(revokes && { revocation: hasOneKey ? 'last' : 'after' }),
  };
}

/** Ids of requirements without a single lookup. */
function leftOut({ lookups }: Setup, { sent }: Course, requirements: PlanOptions['requirements']) {
  const rowsOf = (some: readonly Lookup[]) => new Set<Requirement>(some.flatMap(({ rows }) => rows));
  const [all, tried] = [rowsOf(Object.values(lookups).flat()), rowsOf(sent)];
  return requirements.filter((one) => all.has(one) && !tried.has(one)).map(({ id }) => id);
}

/** Other bounds with the keys of the run, and with more keys. */
const othersOf = (setup: Setup, own: number): readonly Other[] =>
  [own, ...KEYS.filter((keys) => keys > own)].flatMap((keys) =>
    BOUNDS_MS.map((maxDurationMs): Other => {
      const { requests, durationMs, strength } = courseOf(setup, maxDurationMs, keys);
      return { requests, durationMs, strength, keys, maxDurationMs };
    }),
  );

/** A plan may be so many times too low: a bound must be enough. */
const MARGIN = 1.2;

const enough = (requests: number) => Math.ceil((MARGIN * requests) / 50) * 50;

/** What each higher strength needs, and everything. Some time is left for the limits. */
function needsOf(strength: number, { reached, durationMs, requests }: Course): Plan['needs'] {
  const strengths = reached.map((one, nth): Need => ({
    reaches: `strength ${(nth + 1) as 1 | 2}`,
    durationMs: Math.min(roundedUp(one.atMs + Math.min(15_000, one.atMs / 10)), roundedUp(durationMs)),
    requests: enough(one.requests),
  }));
  const everything: Need = {
    reaches: 'everything',
    durationMs: roundedUp(durationMs),
    requests: enough(requests),
  };
  return [...strengths.slice(strength), everything];
}

const roundedUp = (ms: number) => Math.ceil(ms / MINUTE_MS) * MINUTE_MS;
