import { defined } from '../../schemas/values.ts';
import type { LookupRow } from '../rules/requirement.ts';
import { inconclusive, pass } from '../rules/verdict.ts';
import { sinceWhen } from './course.ts';
import { failuresOf, isLate, type Failure, type Judgement, type Tally } from './tally.ts';

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
    course,
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
    // Conditions tell more.
    const since = (explained.where ?? []).length === 0 ? sinceWhen(course) : undefined;
    return defined({ verdict, cases, evidence: exchange, lookup, since, ...explained });
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
