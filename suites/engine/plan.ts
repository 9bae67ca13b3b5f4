import { endpointNames } from '../../schemas/endpoints.ts';
import { defined } from '../../schemas/defined.ts';
import type { Plan } from '../../schemas/plan.ts';
import { createCoverage } from '../model/coverage.ts';
import { reserveOf, limiterMs, limiterRequests, msAt, statedLimit, timeNeeds } from '../limiter/limit.ts';
import { suiteOf, type Rule } from '../requirement.ts';
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

/** Estimates requests and duration of a run, and how many lookups fit its limits. */
export function plan(options: PlanOptions): Plan {
  const { known, requirements, skip, maxDurationMs, maxRequests, rate, selection } = options;
  const asked = requirements.filter(({ id }) => !skip.has(id));
  const rules = asked.filter((requirement): requirement is Rule => requirement.kind === 'rule');
  const lookups = endpointNames.map((): Lookup[] => []);
  for (const lists of createLookups(options, rules).inTurn())
    for (const [at, list] of lists.entries()) lookups[at]!.push(...list);
  const limitersMs = limiterMs(asked, known, maxDurationMs, {}, rate);
  const limiters = reserveOf(limiterRequests(asked, known), maxRequests);
  const scenarios = asked.filter((one) => one.kind === 'scenario' && suiteOf(one) !== 'rate-limit');
  const load = endpointNames.map((endpoint) => ({
    endpoint,
    counted: scenarios.filter(({ id }) => id.includes(`/${endpoint}/`)).length * REQUESTS_OF_SCENARIO,
    keys: known.callerKeys.length,
    ...defined({ limit: statedLimit(endpoint, known) }),
  }));
  let sent = scenarios.length * REQUESTS_OF_SCENARIO;
  const estimate = () => ({
    requests: Math.floor(sent + limiters),
    durationMs: Math.max(...load.map(waitMs), msAt(rate, sent)) + limitersMs,
    load: load.map((one) => ({ ...one })),
  });
  /** Estimates by number of lookups per endpoint. */
  const estimates = [estimate()];
  const deepest = Math.max(...lookups.map((list) => list.length));
  for (let depth = 0; depth < deepest; depth++) {
    for (const [at, list] of lookups.entries()) {
      const { request, times } = list[depth] ?? { times: 0 };
      if (request === undefined) continue;
      sent += times;
      load[at]!.counted += times * costOf(request, known);
    }
    estimates.push(estimate());
  }
  const whole = estimates[deepest]!;
  const fitting = estimates.findLastIndex(
    ({ durationMs, requests }) => durationMs <= maxDurationMs && requests <= maxRequests,
  );
  const depth = Math.max(fitting, Math.min(1, deepest));
  const taken = lookups.flatMap((list) => list.slice(0, depth));
  const idsOf = (some: readonly Lookup[]) => new Set(some.flatMap(({ ids }) => ids));
  const [all, covered] = [idsOf(lookups.flat()), idsOf(taken)];
  const coverage = createCoverage(known);
  if (selection?.whole === true) for (const one of taken) coverage.take(one.endpoint, one.origin.levels);
  const wholeMs = whole.durationMs - limitersMs + limiterMs(asked, known, Number.POSITIVE_INFINITY, {}, rate);
  const cause: Plan['because'] = whole.durationMs > maxDurationMs ? '--max-duration' : '--max-requests';
  const isCut = fitting < deepest;
  return {
    ...estimates[depth]!,
    durationMs: Math.min(estimates[depth]!.durationMs, maxDurationMs),
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
