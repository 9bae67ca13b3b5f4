import type { Loss, RequirementResult } from '../../schemas/generated/types.ts';
import { lossWords } from '../../schemas/progress.ts';
import type { Reply, Trouble } from '../answer.ts';
import { isLookupRow, type Requirement } from '../rules/requirement.ts';
import { inconclusive, type Reason } from '../rules/verdict.ts';
import { createDescriber, type Result } from '../judging/record.ts';
import { lossAt, type Losses } from './losses.ts';
import type { RunOptions } from './run-options.ts';
import { failuresOf, type Judgement, type Tally } from '../judging/tally.ts';

/** Why a run stops before its end. */
export interface Stop {
  readonly reason: Reason;
  readonly words: string;
}

export type Findings = ReturnType<typeof createFindings>;

/** Keeps what a run has found so far. */
export function createFindings(
  options: RunOptions,
  asked: readonly Requirement[],
  tally: Tally,
  startedAt: number,
) {
  const { signal, target } = options;
  const describe = createDescriber({ ...options, target: target.href }, startedAt);
  const results = new Map<Requirement, RequirementResult>();
  let stopped: Stop | undefined;
  const replies = new Map<Requirement, Reply>();
  const finish = (requirement: Requirement, result: Result): void => {
    results.set(requirement, describe(requirement, result));
    if (result.evidence !== undefined) replies.set(requirement, result.evidence.reply);
  };
  const hasFailed = (one: Requirement) =>
    isLookupRow(one) ? failuresOf(tally, one).length > 0 : results.get(one)?.outcome === 'failed';
  return {
    results,
    /** The result of a requirement. A failure in a loss says so: to send its request again may not show it. */
    resultOf: (requirement: Requirement, losses: Losses): RequirementResult => {
      const result = results.get(requirement)!;
      const reply = replies.get(requirement);
      const loss = result.outcome === 'failed' && reply !== undefined ? lossAt(losses, reply) : undefined;
      if (result.outcome !== 'failed' || loss === undefined) return result;
      const { replay: _, ...rest } = result;
      return { ...rest, during: lossWords(loss) };
    },
    /** What explanations add to the judgements of rows, by id. */
    explained: new Map<string, Partial<Judgement>>(),
    finish,
    /** Records that a requirement was not checked. */
    finishStopped: (requirement: Requirement, { reason, words }: Stop): void =>
      finish(requirement, { verdict: inconclusive(reason, words), cases: 0 }),
    /** Ids of the requirements that have failed so far. */
    failing: (): readonly string[] => asked.filter(hasFailed).map(({ id }) => id),
    /** What works no longer. A key that was lost was accepted before: that it is active is open. */
    lose: ({ endpoint, reason }: Loss, { words }: Trouble, isWhole: boolean): void => {
      if (isWhole) stopped = { reason, words };
      for (const row of asked) {
        const isOpen =
          row.kind === 'scenario' && row.provesKeys === true && (endpoint ?? row.endpoint) === row.endpoint;
        if (isOpen && results.get(row)?.outcome === 'passed')
          finish(row, { verdict: inconclusive(reason, words), cases: 0 });
      }
    },
    /** Stops the run because the target cannot be judged. */
    stop: (why: Stop | undefined): void => {
      stopped = why;
    },
    /** Why the target cannot be judged. */
    stopped: (): Stop | undefined => stopped,
    /** Why the run has to stop; undefined if it goes on. */
    stopOf: (): Stop | undefined =>
      stopped ?? (signal.aborted ? { reason: 'interrupted', words: 'the run was interrupted' } : undefined),
  };
}
