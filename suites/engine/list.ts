import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../catalogue/known.ts';
import { SHORT_WAIT_MS } from '../limits/limit.ts';
import { longestWindowMs } from '../limits/limiter.ts';
import { lookupOfPath, timesOf } from '../model/lookup.ts';
import type { Scenario } from '../catalogue/requirement.ts';
import { runScenario } from './evaluation.ts';
import { lookupStep, recordUnanswered } from './lookup-steps.ts';
import { finish, finishStopped, report, stopOf, type Run } from './setup.ts';
import type { Step, Task } from './tasks.ts';
import { explain } from '../explain/explain.ts';
import type { Request } from '../request.ts';
import { excuse, failureToExplain, verdictsOn, wrongAnswersOf, type Failure } from './tally.ts';

/** With fewer requests left, lookups show more than the required scenarios of an endpoint. */
const FEW_LEFT = 110;

/** Everything that a run sends after its preflight, in order. */
export function listOf(run: Run): readonly Step[] {
  const { options, scenarios, budget } = run;
  if (options.path !== undefined) return [single('one lookup', () => replay(run))];
  const isUnbounded = options.maxRequests === Infinity;
  const isMuchLeft = () => options.maxRequests - budget.spent() >= FEW_LEFT;
  const of = (turn: Scenario['turn']) => scenarios.filter((one) => one.turn === turn);
  const isRequired = ({ level }: Scenario) => level === 'required';
  const both = (stepOf: (endpoint: Endpoint) => Step) => endpointNames.map(stepOf);
  const beside = of(undefined);
  const needed = beside.filter(isRequired);
  /** A scenario runs at the first of its places. A crowd uses up a limit, and ways around the key use up requests. */
  const required = (isNow: () => boolean) => {
    const crowd = scenarioStep(run, 'service', needed, { holds: true, isNow });
    const ways = both((endpoint) => scenarioStep(run, endpoint, needed, { holds: true, isNow }));
    return isUnbounded ? [...ways, crowd] : [crowd, ...ways];
  };
  const polls = (isNow: boolean) => (isNow ? [single('deposits that become EXECUTED', () => poll(run))] : []);
  const explanations = (isWanted?: Parameters<typeof explainFailures>[1]) =>
    single(
      'explain failures',
      async () => {
        await excuseCompany(run);
        await explainFailures(run, isWanted);
      },
      { isLast: true },
    );
  return [
    ...polls(isUnbounded),
    ...both((endpoint) => lookupStep(run, endpoint, ['requirement'], { holds: true })),
    // A limit that nobody states is known only once lookups have used it up.
    ...required(() => isUnbounded || isScarce(run)),
    ...both((endpoint) => lookupStep(run, endpoint, ['level'])),
    ...polls(!isUnbounded),
    ...required(isMuchLeft),
    ...both((endpoint) => lookupStep(run, endpoint, ['pair', 'example'])),
    ...required(() => true),
    // Those of other requests wait for the end: a lookup that fails too tells more.
    explanations(({ lookup }) => lookup !== undefined),
    ...both((endpoint) => scenarioStep(run, endpoint, beside)),
    scenarioStep(run, 'service', beside),
    ...both((endpoint) => lookupStep(run, endpoint, ['triple'], { longestWaitMs: SHORT_WAIT_MS })),
    explanations(({ lookup }) => lookup !== undefined),
    scenarioStep(run, 'both', of('alone'), { isLast: true }),
    scenarioStep(run, 'both', of('last'), { isLast: true }),
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
  run: Run,
  endpoint: Scenario['endpoint'] | 'both',
  scenarios: readonly Scenario[],
  { isNow = () => true, ...more }: ScenarioStep = {},
): Step {
  const own = scenarios.filter((one) => endpoint === 'both' || one.endpoint === endpoint);
  let isOver: boolean | undefined;
  const next = (): Task | undefined => {
    isOver ??= !isNow();
    const scenario = isOver ? undefined : own.find((one) => !run.results.has(one));
    return scenario && { isAlone: scenario.level === 'required', run: () => tryScenario(run, scenario) };
  };
  const isOfService = endpoint === 'service' || endpoint === 'both';
  const endpoints = isOfService ? (more.holds === true ? endpointNames : []) : [endpoint];
  return { name: `scenarios of ${endpoint}`, endpoints, lane: { most: 1, inFlight: 0 }, ...more, next };
}

async function tryScenario(run: Run, scenario: Scenario): Promise<void> {
  report(run, scenario.id);
  const why = stopOf(run);
  if (why !== undefined) finishStopped(run, scenario, why);
  else finish(run, scenario, await runScenario(scenario, run.contextOf(scenario), run.known));
}

/** Begins to poll deposits that become EXECUTED: their scenario takes that up. A mistake of ours shows there. */
async function poll(run: Run): Promise<void> {
  const { known, contextOf, results, scenarios } = run;
  const open = scenarios.filter((one) => one.begin !== undefined && !results.has(one));
  const polls = Promise.allSettled(open.map((one) => one.begin!(contextOf(one), known)));
  // Lookups use up a limit before deposits become EXECUTED.
  if (isSoonExecuted(known) && isScarce(run)) await polls;
}

/** Whether a limit makes the run wait long: what needs little of it does not come after what uses it up. */
const isScarce = ({ limiter }: Run) =>
  endpointNames.some((endpoint) => longestWindowMs(limiter, endpoint) > SHORT_WAIT_MS);

/** Whether deposits become EXECUTED soon after the start of a run, and only then: they must be looked at early. */
const isSoonExecuted = ({ becoming }: Pick<Known, 'becoming'>): boolean =>
  becoming.length > 0 &&
  becoming.every(({ becomes: { afterSeconds = Infinity } }) => afterSeconds * 1000 <= SHORT_WAIT_MS);

/** Sends the lookup of --replay. */
async function replay(run: Run): Promise<void> {
  const { options, sender, known } = run;
  const { path = '', seed } = options;
  const lookup = lookupOfPath(path, known, seed);
  for (let times = timesOf(lookup); times > 0; times--) {
    const { reply } = await sender.send(lookup.request, { of: 'lookups', lookup });
    if (reply.kind === 'trouble') await recordUnanswered(run, lookup.request, reply);
  }
}

/** Lookups alone that show that only company makes an answer wrong. */
const LOOKUPS_ALONE = 10;

/** If lookups in flight at once get wrong answers, that is no failure of rows whose lookups are right alone. */
async function excuseCompany(run: Run): Promise<void> {
  const { results, rows, tally, sender, budget } = run;
  const isCrowded = [...results].some(
    ([row, { outcome }]) => row.kind === 'scenario' && row.judgesConcurrency === true && outcome === 'failed',
  );
  if (!isCrowded) return;
  for (const row of rows)
    for (const { exchange, isUndone } of wrongAnswersOf(tally, row)) {
      const { request, reply } = exchange;
      let isRight = true;
      // What was undone cannot be asked for again.
      const most = isUndone === true ? 0 : LOOKUPS_ALONE;
      for (let nth = 0; nth < most && isRight; nth++) {
        if (budget.ended() !== undefined) return;
        const again = (await sender.send(request, { of: row.id, isAgain: true })).reply;
        isRight =
          again.kind === 'answer' && verdictsOn(tally, request, again).every(({ kind }) => kind !== 'failed');
      }
      if (isRight) excuse(tally, row.id, reply);
    }
}

const MAX_EXPLAINING = 2000;

/** Confirms each failure and finds out under which conditions it happens. */
async function explainFailures(
  run: Run,
  isWanted: (failure: Failure) => boolean = () => true,
): Promise<void> {
  const { options, rows, tally, explained, startedAt, known, sender, budget, lookupsEndAt } = run;
  const { clock, maxDurationMs, seed } = options;
  if (options.isBrief === true) return;
  const now = clock.now();
  const endsAt = Math.min(Math.max(lookupsEndAt, startedAt + maxDurationMs / 2), now + maxDurationMs / 4);
  const send = (of: string) => (request: Request) => {
    run.explaining++;
    // Always use the same key: it may be the condition.
    const [key] = known.callerKeys;
    const isCaller = request.credential.as === 'caller' && key !== undefined;
    const sent: Request = isCaller ? { ...request, credential: { as: 'key', key } } : request;
    const until = Math.min(endsAt, clock.now() + SHORT_WAIT_MS);
    return sender.send(sent, { of, isAgain: true, until });
  };
  for (const row of rows) {
    const { id } = row;
    const failure = failureToExplain(tally, row, sender.keyWorks() === true);
    if (failure === undefined || explained.has(id) || !isWanted(failure)) continue;
    report(run, id);
    const isOver = () => run.explaining > MAX_EXPLAINING || budget.ended(endsAt) !== undefined;
    explained.set(id, await explain(row, failure, { known, seed, tally, send: send(id), isOver }));
  }
}
