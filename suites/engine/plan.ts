import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';
import { statedRule } from '../limiter/rule.ts';
import { fingerprint, type Request } from '../request.ts';
import { suiteOf, type Property, type Requirement } from '../requirement.ts';
import { evenly, withoutTwins } from './judge-property.ts';
import { priceOf } from './price.ts';

/** What a run is expected to take, before its first request. Times are ms. */
export interface Plan {
  readonly requests: number;
  /** Waits for limiters and for --rate; what the target itself takes comes on top. */
  readonly durationMs: number;
  /** Counted requests of each endpoint, and what its stated limit makes of them. */
  readonly load: readonly {
    readonly endpoint: Endpoint;
    readonly counted: number;
    readonly keys: number;
    readonly limit?: { readonly most: number; readonly windowMs: number };
  }[];
  /** Inputs that a requirement gets at most, where that is fewer than were asked for. */
  readonly cutTo?: number;
  /** What makes for the cut. */
  readonly because?: '--max-duration' | '--max-requests';
}

export interface PlanOptions {
  readonly known: Known;
  readonly requirements: readonly Requirement[];
  readonly skip: ReadonlySet<string>;
  readonly seed: number;
  readonly cases: number;
  readonly maxDurationMs: number;
  readonly maxRequests: number;
  readonly rate?: number;
}

/** What a scenario takes, about. */
const REQUESTS_OF_SCENARIO = 12;

/** Windows that the rate-limit suite takes: one to forget what was before, one and a third until the limiter lets go, and one more after a second burst. */
const WINDOWS_OF_LIMITER = 3.4;

const endpointsInTurn = ['user-status', 'deposit-check'] as const;

/** Estimates a run, and how deep it can go within its bounds. */
export function plan(options: PlanOptions): Plan {
  const { known, requirements, skip, seed, cases, maxDurationMs, maxRequests, rate } = options;
  const asked = requirements.filter(({ id }) => !skip.has(id));
  const inputs = asked
    .filter((requirement): requirement is Property => requirement.kind === 'property')
    .filter((requirement) => requirement.lacks(known) === undefined)
    .map((property) => ({
      isFresh: property.fresh,
      cases: evenly(withoutTwins(property.draw(known, { seed, cases }))).map(({ item }) => item.requests),
    }));
  const deepest = Math.max(0, ...inputs.map((property) => property.cases.length));
  const keepBackMs = limiterMs(asked, known);

  const scenarios = asked.filter(
    (requirement) => requirement.kind === 'scenario' && suiteOf(requirement) !== 'rate-limit',
  );

  const estimate = (depth: number): Plan => {
    const requests = inputs.flatMap(({ isFresh, cases: list }) => {
      const mine = list.slice(0, depth).flat();
      return mine.map((request) => ({ request, name: isFresh ? undefined : fingerprint(request) }));
    });
    const seen = new Set<string>();
    const sent = requests
      .filter(({ name }) => name === undefined || (!seen.has(name) && seen.add(name)))
      .map(({ request }) => request);
    const load = endpointsInTurn.map((endpoint) => loadOf(endpoint, sent, scenarios, known));
    const total = sent.length + scenarios.length * REQUESTS_OF_SCENARIO;
    const waits = Math.max(...load.map(waitMs));
    return {
      requests: total,
      durationMs: Math.max(waits + keepBackMs, rate === undefined ? 0 : (total / rate) * 1000),
      load,
    };
  };
  const isTooLong = ({ durationMs }: Plan) => durationMs > maxDurationMs;
  const fits = (candidate: Plan) => !isTooLong(candidate) && candidate.requests <= maxRequests;

  const whole = estimate(deepest);
  if (fits(whole)) return whole;
  let [least, most] = [1, deepest];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(estimate(middle))) least = middle;
    else most = middle - 1;
  }
  return {
    ...estimate(least),
    cutTo: least,
    because: isTooLong(whole) ? '--max-duration' : '--max-requests',
  };
}

/**
 * Time (ms) that the rate-limit suite needs at the end of a run, by the limits that are stated or
 * were learned; 0 where it is not asked for.
 */
export function limiterMs(
  requirements: readonly Requirement[],
  known: Known,
  learned: Readonly<Partial<Record<Endpoint, { readonly windowMs: number }>>> = {},
): number {
  const windows = endpointsInTurn
    .filter((endpoint) =>
      requirements.some(({ id, kind }) => kind === 'scenario' && id.startsWith(`rate-limit/${endpoint}/`)),
    )
    .map((endpoint) => (statedRule(endpoint, known) ?? learned[endpoint])?.windowMs ?? 0);
  return WINDOWS_OF_LIMITER * Math.max(0, ...windows);
}

/** Requests that the rate-limit suite needs at the end of a run. */
export function limiterRequests(requirements: readonly Requirement[], known: Known): number {
  if (!requirements.some((requirement) => suiteOf(requirement) === 'rate-limit')) return 0;
  return endpointsInTurn.reduce((sum, endpoint) => sum + 6 * (statedRule(endpoint, known)?.most ?? 50), 0);
}

function loadOf(
  endpoint: Endpoint,
  sent: readonly Request[],
  scenarios: readonly Requirement[],
  known: Known,
): Plan['load'][number] {
  const inputs = sent.filter((request) => request.endpoint === endpoint && priceOf(request, known) > 0);
  const stories = scenarios.filter(({ id }) => id.includes(`/${endpoint}/`));
  const limit = statedRule(endpoint, known);
  return {
    endpoint,
    counted: inputs.length + stories.length * REQUESTS_OF_SCENARIO,
    keys: known.callerKeys.length,
    ...(limit === undefined ? {} : { limit }),
  };
}

/** One counted request of each window is kept back; what fits into the first window waits for nothing. */
function waitMs({ counted, keys, limit }: Plan['load'][number]): number {
  if (limit === undefined || keys === 0) return 0;
  const inWindow = keys * Math.max(1, limit.most - 1);
  return Math.max(0, Math.ceil(counted / inWindow) - 1) * limit.windowMs;
}
