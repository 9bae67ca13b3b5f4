import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import type { Need } from '../../schemas/progress.ts';
import { endpointNames } from '../../schemas/endpoints.ts';
import { defined } from '../../schemas/values.ts';
import { redactError } from '../../schemas/redact.ts';
import type { Limiter } from '../limits/limiter.ts';
import { withSpare } from '../model/entities.ts';
import { redactor } from './evidence.ts';
import { expectedRun } from './expected-run.ts';
import { listOf } from './list.ts';
import { preflight, waitUntilItAnswers } from './preflight.ts';
import { makeRecord, type Figures } from './record.ts';
import type { RunOptions } from './run-options.ts';
import { createRun, finish, finishStopped, report, stopOf, type Run } from './setup.ts';
import { runList } from './tasks.ts';
import type { LookupRow } from '../catalogue/requirement.ts';
import { inconclusive, pass } from '../catalogue/verdict.ts';
import { failuresOf, isLate, type Failure, type Judgement, type Tally } from './tally.ts';

/**
 * Checks a target against the requirements.
 *
 * @throws Problem with code `unreachable` if the target cannot be reached
 */
export async function run(given: RunOptions): Promise<RunRecord> {
  const options = given.stateHook === undefined ? given : { ...given, known: withSpare(given.known) };
  await waitUntilItAnswers(options);
  const state = createRun(options);
  const { sender, limiter, evaluation, client } = state;
  const { requirements, signal } = options;
  try {
    report(state, 'preflight');
    state.stopped = await preflight(sender, options.known, options.target.href, options.ifRefused);
    for (const requirement of requirements) {
      const early = evaluation.earlyResult(requirement);
      if (early !== undefined) finish(state, requirement, early);
    }
    const list = state.stopped === undefined ? listOf(state) : [];
    await runList(list, { limiter, signal, onBegin: ({ name }) => report(state, name) });
    judge(state);
    return recordOf(state);
  } catch (error) {
    throw redactError(error, redactor(options.known, options.headers));
  } finally {
    await client.close();
  }
}

/** Judges what the run has shown. */
function judge(state: Run): void {
  const { options, results, tally, budget, sender, explained, evaluation } = state;
  const isCut = budget.ended() !== undefined || options.cases < 100;
  const why = stopOf(state);
  for (const requirement of options.requirements) {
    if (results.has(requirement)) continue;
    if (requirement.kind === 'scenario') finishStopped(state, requirement, why!);
    else if (requirement.kind === 'monitor') {
      const seen = evaluation.monitorResult(requirement);
      if (state.stopped === undefined || seen.verdict.kind === 'failed') finish(state, requirement, seen);
      else finishStopped(state, requirement, state.stopped);
    } else {
      const of = explained.get(requirement.id);
      const judgement = judgementOf(tally, requirement, sender.keyWorks(), isCut, of);
      if (why !== undefined && judgement.cases === 0) finishStopped(state, requirement, why);
      else finish(state, requirement, judgement);
    }
  }
}

/** What a longer run would reach. */
function needsOf({ options, rows, isCut, results }: Run): Pick<RunRecord, 'needs'> {
  if (rows.length === 0 || options.isBrief === true || options.path !== undefined) return {};
  const isOpen = (one: RequirementResult) => one.outcome === 'inconclusive';
  if (!isCut && ![...results.values()].some(isOpen)) return {};
  const { maxDurationMs, maxRequests } = options;
  if (maxDurationMs === Infinity && maxRequests === Infinity) return {};
  const isMore = ({ durationMs, requests }: Need) => durationMs > maxDurationMs || requests > maxRequests;
  const inSeconds = ({ durationMs, ...need }: Need) => ({ ...need, seconds: durationMs / 1000 });
  const needs = expectedRun(options).needs.filter(isMore).map(inSeconds);
  return needs.length === 0 ? {} : { needs };
}

function recordOf(state: Run): RunRecord {
  const { options, results, evaluation, begun, startedAt, budget, sender, limiter, coverage } = state;
  const { signal, requirements } = options;
  const list = evaluation.withBasis(requirements.map((requirement) => results.get(requirement)!));
  const figures: Figures = {
    startedAt,
    durationMs: Math.round(performance.now() - begun),
    requests: budget.spent(),
    rateLimited: { answers: sender.rateLimited(), ...figuresOf(limiter) },
    keyWorks: sender.keyWorks(),
    interrupted: signal.aborted,
    ...coverage.figures(),
    ...needsOf(state),
    ...defined({ interruptedBy: typeof signal.reason === 'string' ? signal.reason : undefined }),
  };
  return makeRecord({ ...options, target: options.target.href }, list, figures);
}

/** What the run knows about limiters, for its record. */
export function figuresOf({ waits, remarks, paced }: Limiter): Omit<RunRecord['rateLimited'], 'answers'> {
  const endpoints = endpointNames.map((endpoint) => {
    const limit = paced[endpoint];
    return {
      endpoint,
      waitedMs: Math.round(waits.get(endpoint)?.sumMs ?? 0),
      ...defined({
        limit: limit && { requests: limit.most, windowSeconds: limit.windowMs / 1000 },
        contradiction: remarks.get(endpoint),
      }),
    };
  });
  return { waitedMs: endpoints.reduce((sum, { waitedMs }) => sum + waitedMs, 0), endpoints };
}

/**
 * What the lookups of a run show about a row.
 *
 * @param keyWorks whether the key under test was ever accepted
 * @param isCut whether some lookups were not tried because the budget was used up
 * @param explained explanation of the first failure of this row
 */
export function judgementOf(
  tally: Tally,
  row: LookupRow,
  keyWorks: boolean | undefined,
  isCut: boolean,
  explained: Partial<Judgement> = {},
): Judgement {
  const {
    cases,
    refusals,
    unclear,
    unsent,
    unanswered = cases === 0 ? unsent : undefined,
  } = tally.states.get(row.id)!;
  // A slow target may time out now and then, whatever the lookup.
  const isRandomTimeout = ({ exchange: { reply } }: Failure) =>
    explained.intermittent !== undefined && isLate(reply);
  const failures = failuresOf(tally, row).filter((one) => !isRandomTimeout(one));
  const provesKey = row.kind === 'answer' && row.provesKey === true;
  const [failure] = keyWorks === false && !provesKey ? failures : [...failures, ...refusals];
  if (failure !== undefined) {
    const { verdict, exchange, lookup } = failure;
    return defined({ verdict, cases, evidence: exchange, lookup, ...explained });
  }
  const [refusal] = refusals;
  if (refusal !== undefined) {
    const words = 'the target answers every request of the key under test with 401';
    return { verdict: inconclusive('key-refused', words), cases, evidence: refusal.exchange };
  }
  if (unanswered !== undefined)
    return {
      verdict: inconclusive(unanswered.reply.code, unanswered.reply.words),
      cases,
      evidence: unanswered,
    };
  if (cases > 0) return { verdict: pass, cases };
  if (unclear !== undefined) return unclear;
  const verdict = isCut
    ? inconclusive('budget', 'the bounds of the run left no lookup for it')
    : inconclusive(
        'depends',
        'not checked because no lookup was about it, or each failed another requirement',
      );
  return { verdict, cases };
}
