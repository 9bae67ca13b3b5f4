import { endpointNames } from '../../schemas/endpoints.ts';
import { defined } from '../../schemas/defined.ts';
import type { Plan } from '../../schemas/plan.ts';
import { createCoverage } from '../model/coverage.ts';
import { reserveOf, limiterMs, limiterRequests, msAt, statedLimit, timeNeeds } from '../limiter/limit.ts';
import { suiteOf, type Requirement, type Rule } from '../requirement.ts';
import { createLookups, type Lookup } from './lookups.ts';
import { costOf } from './sender.ts';
import type { RunOptions } from './run-options.ts';

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
  | 'selection'
>;

const REQUESTS_OF_SCENARIO = 12;

/** For more cases per endpoint, the lookups are drawn for so many, and the rest is estimated. */
const MAX_DRAWN_CASES = 10_000;

/** The rest is random: it takes as many requests as this many lookups that were drawn last, on average. */
const SAMPLE = 1000;

/** Estimates requests and duration of a run, and how many lookups fit its limits. */
export function plan(options: PlanOptions): Plan {
  const { known, requirements, skip, cases, maxDurationMs, maxRequests, rate, selection } = options;
  const asked = requirements.filter(({ id }) => !skip.has(id));
  const rules = asked.filter((requirement): requirement is Rule => requirement.kind === 'rule');
  const drawn = Math.min(cases, MAX_DRAWN_CASES);
  const lookups = endpointNames.map((): Lookup[] => []);
  for (const lists of createLookups({ ...options, cases: drawn }, rules).inTurn())
    for (const [at, list] of lists.entries()) lookups[at]!.push(...list);
  const limitersMs = limiterMs(asked, known, maxDurationMs, {}, rate);
  const limiters = reserveOf(limiterRequests(asked, known), maxRequests);
  const scenarios = asked.filter((one) => one.kind === 'scenario' && suiteOf(one) !== 'rate-limit');
  const requestsOf = (some: readonly Requirement[]) => some.length * REQUESTS_OF_SCENARIO;
  /** Requests, and counted ones of each endpoint, by number of lookups per endpoint. */
  const sums = [
    [
      requestsOf(scenarios),
      ...endpointNames.map((name) => requestsOf(scenarios.filter(({ id }) => id.includes(`/${name}/`)))),
    ],
  ];
  for (let depth = 0; lookups.some((list) => depth < list.length); depth++) {
    const sum = [...sums[depth]!];
    for (const [at, list] of lookups.entries()) {
      const { request, times } = list[depth] ?? { times: 0 };
      if (request === undefined) continue;
      sum[0]! += times;
      sum[at + 1]! += times * costOf(request, known);
    }
    sums.push(sum);
  }
  const deepest = Math.floor(((sums.length - 1) * cases) / drawn);
  const sumAt = (depth: number): readonly number[] => {
    const last = sums.at(-1)!;
    const further = (depth - sums.length + 1) / SAMPLE;
    return (
      sums[depth] ?? last.map((sum, at) => Math.round(sum + further * (sum - sums.at(-SAMPLE - 1)![at]!)))
    );
  };
  const estimate = (depth: number) => {
    const [sent, ...counted] = sumAt(depth) as [number, ...number[]];
    const load = endpointNames.map((endpoint, at) => ({
      endpoint,
      counted: counted[at]!,
      keys: known.callerKeys.length,
      ...defined({ limit: statedLimit(endpoint, known) }),
    }));
    const durationMs = Math.max(...load.map(waitMs), msAt(rate, sent)) + limitersMs;
    return { requests: Math.floor(sent + limiters), durationMs, load };
  };
  const whole = estimate(deepest);
  let [fitting, most] = [-1, deepest];
  while (fitting < most) {
    const middle = Math.ceil((fitting + most) / 2);
    const { durationMs, requests } = estimate(middle);
    if (durationMs <= maxDurationMs && requests <= maxRequests) fitting = middle;
    else most = middle - 1;
  }
  const depth = Math.max(fitting, Math.min(1, deepest));
  const taken = lookups.flatMap((list) => list.slice(0, depth));
  const idsOf = (some: readonly Lookup[]) => new Set(some.flatMap(({ ids }) => ids));
  const [all, covered] = [idsOf(lookups.flat()), idsOf(taken)];
  const coverage = createCoverage(known);
  if (selection?.whole === true) for (const one of taken) coverage.take(one.endpoint, one.origin.levels);
  const wholeMs = whole.durationMs - limitersMs + limiterMs(asked, known, Number.POSITIVE_INFINITY, {}, rate);
  const cause: Plan['because'] = whole.durationMs > maxDurationMs ? '--max-duration' : '--max-requests';
  const isCut = fitting < deepest;
  const chosen = estimate(depth);
  return {
    ...chosen,
    durationMs: Math.min(chosen.durationMs, maxDurationMs),
    notCompared: timeNeeds(asked, known, maxDurationMs, {})
      .filter(({ fits }) => !fits)
      .map(({ endpoint }) => endpoint),
    leftOut: rules.map(({ id }) => id).filter((id) => all.has(id) && !covered.has(id)),
    ...defined({
      wholeMs: wholeMs > maxDurationMs ? wholeMs : undefined,
      reached: selection?.whole === true ? coverage.figures() : undefined,
      cutTo: isCut ? depth : undefined,
      because: isCut ? cause : undefined,
    }),
  };
}

/** Time spent waiting for rate limits, in ms. One request per window is reserved. The first window needs no wait. */
function waitMs({ counted, keys, limit }: Plan['load'][number]): number {
  if (limit === undefined || keys === 0) return 0;
  const inWindow = keys * Math.max(1, limit.most - 1);
  return Math.max(0, Math.ceil(counted / inWindow) - 1) * limit.windowMs;
}
