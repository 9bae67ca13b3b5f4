import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import { estimate, type Estimate } from '../limits/estimate.ts';
import { statedLimits, type RateLimit } from '../limits/limit.ts';
import { withSpare } from '../model/entities.ts';
import { isLookupRow, type Scenario } from '../catalogue/requirement.ts';
import { createLookups } from './lookups.ts';
import type { RunOptions } from './run-options.ts';

/** The most lookups of an endpoint that are counted. */
const MAX_LOOKUPS = 4000;

/** Requests of a scenario that does not say how many it sends, and those that try a limit, in multiples of it. */
const [FEW, TRIES] = [3, 4];

export type ExpectedRunOptions = Pick<
  RunOptions,
  | 'known'
  | 'requirements'
  | 'skip'
  | 'seed'
  | 'cases'
  | 'rate'
  | 'maxDurationMs'
  | 'maxRequests'
  | 'graceMs'
  | 'stateHook'
>;

/** Estimates a run. Nothing is sent. */
export function expectedRun(options: ExpectedRunOptions): Estimate {
  const { requirements, skip, seed, cases, stateHook, graceMs, ...bounds } = options;
  const known = stateHook === undefined ? options.known : withSpare(options.known);
  const asked = requirements.filter(({ id }) => !skip.has(id));
  const most = Math.min(cases, MAX_LOOKUPS);
  const source = createLookups({ known, seed, cases: most }, asked.filter(isLookupRow));
  const ranks = [['requirement', 'level'], ['pair', 'example'], ['triple']] as const;
  const stages = ranks.map((some) =>
    endpointNames.flatMap((endpoint) => [...source.next(endpoint, ...some)]),
  );
  const limits: Readonly<Partial<Record<Endpoint, RateLimit>>> = statedLimits(known);
  const scenarios = asked.filter((one): one is Scenario => one.kind === 'scenario');
  const tries = endpointNames.map((endpoint) =>
    scenarios.some((one) => one.turn === 'last' && one.endpoint === endpoint)
      ? TRIES * (limits[endpoint]?.most ?? 0)
      : 0,
  );
  const sends = scenarios.map(({ turn, sends: counted = FEW, sendsFree = 0 }) =>
    turn === 'last' ? 0 : counted + sendsFree,
  );
  const isChanging = stateHook !== undefined && scenarios.some((one) => one.needsChange !== undefined);
  return estimate({
    ...bounds,
    rate: options.rate,
    stages,
    limits,
    keys: known.callerKeys.length,
    others: [...sends, ...tries].reduce((sum, count) => sum + count, 0),
    // Each limit is tried once, and changes take the grace.
    othersMs: endpointNames.reduce(
      (sum, name) => sum + (limits[name]?.windowMs ?? 0),
      isChanging ? 2 * graceMs : 0,
    ),
  });
}
