import { setMaxListeners } from 'node:events';
import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { RunRecord } from '../../schemas/generated/types.ts';
import { redactError } from '../../schemas/redact.ts';
import { defined } from '../../schemas/values.ts';
import { table } from '../requirements/catalogue.ts';
import { isLookupRow, type Requirement } from '../rules/requirement.ts';
import { statedLimits } from '../limits/limit.ts';
import { createLimiter, sleep } from '../limits/limiter.ts';
import { drawnOnce } from '../plan/lookups.ts';
import { createCoverage } from '../plan/coverage.ts';
import { withSpare } from '../plan/entities.ts';
import { boundsOf, keptWindowMs, type Bounds } from './bounds.ts';
import { createBudget, type Budget } from './budget.ts';
import { createClient, type Client } from '../client/client.ts';
import { createContexts, MAX_IN_FLIGHT } from './context.ts';
import { createEvaluation, type Evaluation } from '../judging/evaluation.ts';
import { redactor } from '../judging/evidence.ts';
import { createExplanations } from './explanations.ts';
import { figuresOf, needsOf, waitsOf } from './figures.ts';
import { expectedRun, MAX_LOOKUPS } from './expected-run.ts';
import { createFindings, type Findings } from './findings.ts';
import { judgementOf } from '../judging/judgement.ts';
import { listOf } from './list.ts';
import { createLookupSteps } from './lookup-steps.ts';
import { preflight, waitUntilItAnswers } from './preflight.ts';
import { createProgress, type Progress } from './progress.ts';
import { makeRecord, type Figures } from '../judging/record.ts';
import { createTimeline } from '../judging/timeline.ts';
import type { RunOptions } from './run-options.ts';
import { createSender } from './sender.ts';
import { settle } from './suspects.ts';
import { addMissing } from '../judging/missing.ts';
import { failsAnyway, verdictsOn } from '../judging/tally.ts';
import { runList } from './tasks.ts';
import { atTheEnd } from '../rules/verdict.ts';

/**
 * Checks a target against the requirements.
 *
 * @throws Problem with code `unreachable` if the target cannot be reached
 */
export async function run(given: RunOptions): Promise<RunRecord> {
  const known = given.stateHook === undefined ? given.known : withSpare(given.known);
  const isShared = given.cases <= MAX_LOOKUPS;
  const options = { ...given, known, ...(isShared && { plan: drawnOnce(given.plan) }) };
  await waitUntilItAnswers(options);
  const asked = options.requirements.filter(({ id }) => !options.skip.has(id));
  const bounds = boundsOf(options, asked);
  const client = (options.connect ?? createClient)({
    ...options.tls,
    ...options,
    connections: MAX_IN_FLIGHT,
    now: options.clock.now,
    deadline: bounds.deadline,
  });
  try {
    return await runWith(options, asked, bounds, client);
  } catch (error) {
    throw redactError(error, redactor(options.known, options.headers));
  } finally {
    await client.close();
  }
}

/** What sees the exchanges of a run. */
interface Judging {
  readonly evaluation: Evaluation;
  readonly findings: Findings;
  readonly budget: Budget;
  readonly progress: Progress;
  readonly timeline: ReturnType<typeof createTimeline>;
}

async function runWith(
  options: RunOptions,
  asked: readonly Requirement[],
  bounds: Bounds,
  client: Client,
): Promise<RunRecord> {
  const { known, requirements, signal } = options;
  // Every request and every wait adds a listener.
  setMaxListeners(Number.POSITIVE_INFINITY, signal);
  const rows = asked.filter(isLookupRow);
  const evaluation = createEvaluation({ ...options, table, hasStateHook: options.stateHook !== undefined });
  const { tally } = evaluation;
  const findings = createFindings(options, asked, tally, bounds.startedAt);
  const budget = createBudget({ ...options, ...bounds });
  const isWhole = options.isBrief !== true && options.path === undefined;
  const expected = isWhole && options.onProgress !== undefined ? expectedRun(options) : undefined;
  const progress = createProgress(options, budget, findings, expected);
  const timeline = createTimeline(bounds.startedAt);
  const judging = { evaluation, findings, budget, progress, timeline };
  const sending = createSending(options, bounds, client, judging);
  const { limiter, sender, contextOf } = sending;
  const coverage = createCoverage(known);
  const shared = { ...options, ...bounds, rows, tally, sender, budget };
  const lookups = createLookupSteps({ ...shared, ...sending, coverage, failing: findings.failing });
  const explain = createExplanations({ ...shared, ...findings, onBegin: progress.report });
  progress.report();
  findings.stop(await preflight(sender, options));
  for (const requirement of requirements) {
    const early = evaluation.earlyResult(requirement);
    if (early !== undefined) findings.finish(requirement, early);
  }
  const scenarios = asked.filter((one) => one.kind === 'scenario').toSorted((a, b) => rank(a) - rank(b));
  const { longestWindowMs } = sender;
  const context = { contextOf, longestWindowMs, onBegin: progress.report };
  const { losses } = sender;
  const list = { ...options, ...context, scenarios, lookups, explain, budget, findings, losses };
  const steps = findings.stopped() === undefined ? listOf(list) : [];
  await runList(steps, { limiter, signal, onBegin: ({ name }) => progress.report(name) });
  await settle(losses);
  const isLasting = losses.all.some(({ seconds }) => seconds === undefined);
  const targetLost = isLasting || (findings.stopped() === undefined && (await sender.isTargetLost()));
  finishAll(options, evaluation, findings, sender.keyWorks(), budget);
  const all = requirements.map((requirement) => findings.resultOf(requirement, losses));
  // Only then would a longer run reach more.
  const isCut =
    lookups.isCut() || all.some((one) => 'reason' in one && ['budget', 'rate-limited'].includes(one.reason));
  const needs = isCut && isWhole && rows.length > 0 ? needsOf(options, expected ?? expectedRun(options)) : [];
  const figures: Figures = {
    startedAt: bounds.startedAt,
    durationMs: Math.round(progress.elapsedMs()),
    requests: budget.spent(),
    rateLimited: { answers: sender.rateLimited(), ...figuresOf(limiter) },
    waits: waitsOf(limiter),
    timeline: timeline.timelineOf(limiter.waits, options.clock.now()),
    keyWorks: sender.keyWorks(),
    isUntraced: !sender.isTracing() && options.headers['traceparent'] === undefined,
    interrupted: signal.aborted,
    ...(targetLost && { targetLost }),
    ...(losses.all.length > 0 && { losses: [...losses.all] }),
    ...coverage.figures(),
    ...(needs.length > 0 && { needs }),
    ...defined({ interruptedBy: typeof signal.reason === 'string' ? signal.reason : undefined }),
  };
  return makeRecord({ ...options, target: options.target.href }, evaluation.completed(all), figures);
}

/** What a run sends its requests with. Nothing is sent yet. */
function createSending(
  options: RunOptions,
  bounds: Bounds,
  client: Client,
  { evaluation, findings, budget, progress, timeline }: Judging,
) {
  const { clock, known } = options;
  const { deadline, lookupsEndAt, isChanging } = bounds;
  const { tally } = evaluation;
  const limiter = createLimiter({
    ...options,
    ...bounds,
    budget,
    reserved: bounds.reservedCounted,
    stated: statedLimits(known),
    scope: known.limits.scope,
    onWait: ({ until, ...wait }) => {
      progress.wait(wait.endpoint, until);
      options.onWait?.({ ...wait, waitMs: until - clock.now() }, findings.failing());
    },
  });
  // A target that stalls once loses all requests in flight, of both endpoints.
  const maxLost = Math.max(10, 4 * options.concurrency);
  const sender = createSender({
    ...options,
    client,
    budget,
    limiter,
    deadline,
    maxLostInARow: maxLost,
    present: tally.present,
    redact: redactor(known, options.headers),
    verdictsOn: (request, answer) => verdictsOn(tally, request, answer),
    onExchange: (exchange) => {
      options.onExchange?.(exchange);
      const { request, reply } = exchange;
      evaluation.watch(exchange);
      timeline.add(request.endpoint, reply, clock.now(), tally.present.state !== 'as before');
      progress.tick();
    },
    judge: evaluation.judge,
    leaveOpen: ({ request, lookup }, why) => addMissing(tally, request, why, lookup),
    onLost: findings.lose,
  });
  const endOfLookups = (endpoint: Endpoint) =>
    lookupsEndAt - (isChanging ? keptWindowMs(options, sender.longestWindowMs, endpoint) : 0);
  const contextOf = createContexts({
    ...options,
    sleep: (wait) => sleep(limiter, wait),
    sender,
    deadline,
    untilOf: ({ phase }) => (phase === undefined ? Math.min(...endpointNames.map(endOfLookups)) : undefined),
    verdictsOn: (request, answer) => verdictsOn(tally, request, answer),
    failsAnyway: (request, answer) => failsAnyway(tally, request, answer),
    present: tally.present,
    leftRequests: () => options.maxRequests - budget.spent(),
    ended: () => budget.ended(),
  });
  return { limiter, sender, contextOf, endOfLookups, maxLost };
}

/** Required requirements come first: a run that is out of time drops the last ones. */
const rank = ({ level }: Requirement) => ['required', 'recommended', 'observed'].indexOf(level);

/** Judges what the run has shown of each requirement that has no result yet. */
function finishAll(
  { requirements, cases }: RunOptions,
  { tally, monitorResult }: Evaluation,
  { results, explained, stopped, stopOf, finish, finishStopped }: Findings,
  keyWorks: boolean | undefined,
  budget: Budget,
): void {
  const end = budget.ended();
  const isOver = end !== undefined;
  const why = stopOf();
  for (const requirement of requirements) {
    if (results.has(requirement)) continue;
    if (requirement.kind === 'scenario') finishStopped(requirement, why!);
    else if (requirement.kind === 'monitor') {
      const seen = monitorResult(requirement);
      const isStopped = stopped() !== undefined && seen.verdict.kind !== 'failed';
      if (isStopped) finishStopped(requirement, stopped()!);
      else finish(requirement, { ...seen, verdict: atTheEnd(seen.verdict, end) });
    } else {
      const explanation = explained.get(requirement.id) ?? (isOver ? { unexplained: true } : {});
      const judgement = judgementOf(tally, requirement, keyWorks, isOver || cases < 100, explanation);
      if (why !== undefined && judgement.cases === 0) finishStopped(requirement, why);
      else finish(requirement, judgement);
    }
  }
}
