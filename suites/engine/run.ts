import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import type { Need } from '../../schemas/progress.ts';
import { defined } from '../../schemas/defined.ts';
import { redactError } from '../../schemas/redact.ts';
import { figuresOf } from '../limits/limiter.ts';
import { expectedRun } from './expected-run.ts';
import { redactor } from './evidence.ts';
import { phases } from './phases.ts';
import { makeRecord, type Figures } from './record.ts';
import { withSpare } from '../model/entities.ts';
import type { RunOptions } from './run-options.ts';
import { createRunState, timed, type RunState } from './run-state.ts';

/**
 * Checks a target against the requirements.
 *
 * @throws Problem with code `unreachable` if the target cannot be reached
 */
export async function run(given: RunOptions): Promise<RunRecord> {
  const options = given.stateHook === undefined ? given : { ...given, known: withSpare(given.known) };
  const state = createRunState(options);
  try {
    for (const phase of phases) await timed(state, phase.name, () => phase.run(state));
    return recordOf(state);
  } catch (error) {
    throw redactError(error, redactor(options.known, options.headers));
  } finally {
    await state.client.close();
  }
}

/** What a longer run would reach. */
function needsOf({ options, rows, isCut, results }: RunState): Pick<RunRecord, 'needs'> {
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

function recordOf(state: RunState): RunRecord {
  const { options, results, evaluation, begun, startedAt, budget, sender, limiter, coverage } = state;
  const { signal, requirements } = options;
  const list = evaluation.withBasis(requirements.map((requirement) => results.get(requirement)!));
  const figures: Figures = {
    startedAt,
    durationMs: Math.round(performance.now() - begun),
    requests: budget.spent(),
    rateLimited: { answers: sender.rateLimited(), ...figuresOf(limiter) },
    phases: state.phases,
    keyWorks: sender.keyWorks(),
    interrupted: signal.aborted,
    ...coverage.figures(),
    ...needsOf(state),
    isCut: budget.ended() !== undefined || options.cases < 100,
    ...defined({
      interruptedBy: typeof signal.reason === 'string' ? signal.reason : undefined,
    }),
  };
  return makeRecord({ ...options, target: options.target.href }, list, figures);
}
