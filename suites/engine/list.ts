import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';
import { SHORT_WAIT_MS } from '../limits/limit.ts';
import type { Scenario } from '../rules/requirement.ts';
import type { Asker, Context } from '../rules/scenario-context.ts';
import { runScenario } from '../judging/evaluation.ts';
import type { Budget } from './budget.ts';
import type { Explanations } from './explanations.ts';
import { atTheEnd } from '../rules/verdict.ts';
import type { Findings } from './findings.ts';
import type { LookupSteps } from './lookup-steps.ts';
import { troubleAt, type Losses } from './losses.ts';
import type { RunOptions } from './run-options.ts';
import { settle } from './suspects.ts';
import type { Step, Task } from './tasks.ts';
import type { Failure } from '../judging/tally.ts';

export interface ListOptions extends Pick<RunOptions, 'known' | 'path' | 'maxRequests'> {
  /** Required ones come first: a run that is out of time drops the last ones. */
  readonly scenarios: readonly Scenario[];
  readonly lookups: Pick<LookupSteps, 'step' | 'replay'>;
  readonly explain: Explanations;
  readonly budget: Pick<Budget, 'spent' | 'ended'>;
  readonly findings: Pick<Findings, 'results' | 'finish' | 'finishStopped' | 'stopOf'>;
  readonly losses: Losses;
  readonly contextOf: (of: Asker) => Context;
  /** The stated window of a limiter, or the longest pause after a 429, in ms; 0 if none is known. */
  readonly longestWindowMs: (endpoint: Endpoint) => number;
  /** Called with the id of a scenario that begins. */
  readonly onBegin: (id: string) => void;
}

/** With fewer requests left, lookups show more than the required scenarios of an endpoint. */
const FEW_LEFT = 110;

/** Everything that a run sends after its preflight, in order. */
export function listOf(options: ListOptions): readonly Step[] {
  const { path, maxRequests, scenarios, lookups, explain, budget } = options;
  if (path !== undefined) return [single('one lookup', () => lookups.replay(path))];
  const isUnbounded = maxRequests === Infinity;
  const isMuchLeft = () => maxRequests - budget.spent() >= FEW_LEFT;
  const of = (phase: Scenario['phase']) => scenarios.filter((one) => one.phase === phase);
  const isRequired = ({ level }: Scenario) => level === 'required';
  const both = (stepOf: (endpoint: Endpoint) => Step) => endpointNames.map(stepOf);
  const beside = of(undefined);
  const needed = beside.filter(isRequired);
  /** A scenario runs at the first of its places. A crowd uses up a limit, and ways around the key use up requests. */
  const required = (isNow: () => boolean) => {
    const crowd = scenarioStep(options, 'service', needed, { holds: true, isNow });
    const ways = both((endpoint) => scenarioStep(options, endpoint, needed, { holds: true, isNow }));
    return isUnbounded ? [...ways, crowd] : [crowd, ...ways];
  };
  const polls = (isNow: boolean) =>
    isNow ? [single('deposits that become EXECUTED', () => poll(options))] : [];
  const explanations = (isWanted?: (failure: Failure) => boolean) =>
    single('explain failures', () => explain(isWanted), { isLast: true });
  const isOfPlan = ({ lookup }: Failure) => lookup !== undefined;
  return [
    ...polls(isUnbounded),
    ...both((endpoint) => lookups.step(endpoint, ['requirement'], { holds: true })),
    // A limit that nobody states is known only once lookups have used it up.
    ...required(() => isUnbounded || isScarce(options)),
    ...both((endpoint) => lookups.step(endpoint, ['level'])),
    ...polls(!isUnbounded),
    ...required(isMuchLeft),
    ...both((endpoint) => lookups.step(endpoint, ['pair', 'example'])),
    ...required(() => true),
    // Those of other requests wait for the end: a lookup that fails too tells more.
    explanations(isOfPlan),
    ...both((endpoint) => scenarioStep(options, endpoint, beside)),
    scenarioStep(options, 'service', beside),
    ...both((endpoint) => lookups.step(endpoint, ['triple'], { longestWaitMs: SHORT_WAIT_MS })),
    explanations(isOfPlan),
    scenarioStep(options, 'both', of('alone'), { isLast: true }),
    scenarioStep(options, 'both', of('last'), { isLast: true }),
    explanations(),
  ];
}

/** A step with one task. Later lookups wait for it. */
function single(name: string, work: () => Promise<void>, more: Pick<Step, 'isLast'> = {}): Step {
  let isBegun = false;
  const next = (): Task | undefined => {
    if (isBegun) return undefined;
    isBegun = true;
    return { run: work };
  };
  return { name, endpoints: endpointNames, holds: true, lane: { most: 1, inFlight: 0 }, ...more, next };
}

interface ScenarioStep extends Pick<Step, 'holds' | 'isLast'> {
  /** Whether it runs now, or at a later place. */
  readonly isNow?: () => boolean;
}

/** Those scenarios of an endpoint that have no result yet, one after another. */
function scenarioStep(
  options: ListOptions,
  endpoint: Scenario['endpoint'] | 'both',
  scenarios: readonly Scenario[],
  { isNow = () => true, ...more }: ScenarioStep = {},
): Step {
  const { results } = options.findings;
  const own = scenarios.filter((one) => endpoint === 'both' || one.endpoint === endpoint);
  let isOver: boolean | undefined;
  const next = (): Task | undefined => {
    isOver ??= !isNow();
    const scenario = isOver ? undefined : own.find((one) => !results.has(one));
    return scenario && { isAlone: scenario.level === 'required', run: () => tryScenario(options, scenario) };
  };
  const isOfService = endpoint === 'service' || endpoint === 'both';
  const endpoints = isOfService ? (more.holds === true ? endpointNames : []) : [endpoint];
  return { name: `scenarios of ${endpoint}`, endpoints, lane: { most: 1, inFlight: 0 }, ...more, next };
}

async function tryScenario(options: ListOptions, scenario: Scenario): Promise<void> {
  const { findings, contextOf, known, onBegin, losses } = options;
  onBegin(scenario.id);
  const lost = scenario.endpoint === 'service' ? undefined : troubleAt(losses, scenario.endpoint);
  const why = findings.stopOf() ?? (lost && { reason: lost.code, words: lost.words });
  if (why !== undefined) return findings.finishStopped(scenario, why);
  const before = losses.excused;
  const wasOver = options.budget.ended() !== undefined;
  const result = await runScenario(scenario, contextOf(scenario), known);
  await settle(losses);
  // What it asked while something was lost shows nothing.
  if (losses.excused !== before) return tryScenario(options, scenario);
  const stop = result.verdict.kind === 'inconclusive' ? findings.stopOf() : undefined;
  const verdict = atTheEnd(result.verdict, wasOver ? undefined : options.budget.ended());
  if (stop === undefined) findings.finish(scenario, { ...result, verdict });
  else findings.finishStopped(scenario, stop);
}

/** Begins to poll deposits that become EXECUTED: their scenario takes that up. A mistake of ours shows there. */
async function poll(options: ListOptions): Promise<void> {
  const { known, contextOf, findings, scenarios } = options;
  const open = scenarios.filter((one) => one.begin !== undefined && !findings.results.has(one));
  const polls = Promise.allSettled(open.map((one) => one.begin!(contextOf(one), known)));
  // Lookups use up a limit before deposits become EXECUTED.
  if (isSoonExecuted(known) && isScarce(options)) await polls;
}

/** Whether a limit makes the run wait long: what needs little of it does not come after what uses it up. */
const isScarce = ({ longestWindowMs }: ListOptions) =>
  endpointNames.some((endpoint) => longestWindowMs(endpoint) > SHORT_WAIT_MS);

/** Whether deposits become EXECUTED soon after the start of a run, and only then: they must be looked at early. */
const isSoonExecuted = ({ becoming }: Pick<Known, 'becoming'>): boolean =>
  becoming.length > 0 &&
  becoming.every(({ becomes: { afterSeconds = Infinity } }) => afterSeconds * 1000 <= SHORT_WAIT_MS);
