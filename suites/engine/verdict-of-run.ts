import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';

/** What a verdict rests on, apart from the results. */
type Run = Pick<RunRecord, 'interrupted' | 'strength' | 'minStrength' | 'selection'>;

/**
 * The verdict over a run: nonconformant if a required requirement failed; else incomplete if one is
 * inconclusive or anything is broken, nothing was judged, or the run did not come to its end or not to the
 * strength that it needs; else conformant. Excluded ones change nothing.
 */
export function verdictOf(results: readonly RequirementResult[], run: Run): RunRecord['verdict'] {
  const required = results.filter(({ level }) => level === 'required');
  if (required.some(({ outcome }) => outcome === 'failed')) return 'nonconformant';
  if (run.interrupted || isTooWeak(run) || results.some(({ outcome }) => outcome === 'broken'))
    return 'incomplete';
  if (required.some(({ outcome }) => outcome === 'inconclusive')) return 'incomplete';
  return results.some(({ outcome }) => outcome === 'passed' || outcome === 'failed')
    ? 'conformant'
    : 'incomplete';
}

/** Only a whole run is asked for a strength: one that was narrowed leaves lookups out on purpose. */
function isTooWeak({ strength, minStrength = 0, selection }: Run): boolean {
  if (strength === undefined || selection?.whole !== true || selection.replay !== undefined) return false;
  return strength < minStrength && (selection.skip.length === 0 || minStrength > 1);
}

/** How many there are of each outcome, by level where the level matters. */
export function countOutcomes(results: readonly RequirementResult[]): RunRecord['counts'] {
  const count = (outcome: RequirementResult['outcome'], level?: RequirementResult['level']) =>
    results.filter((result) => result.outcome === outcome && (level === undefined || result.level === level))
      .length;
  const judged = (level: 'required' | 'recommended') => ({
    passed: count('passed', level),
    failed: count('failed', level),
    inconclusive: count('inconclusive', level),
  });
  return {
    required: judged('required'),
    recommended: judged('recommended'),
    observed: results.filter(
      ({ level, outcome }) => level === 'observed' && outcome !== 'excluded' && outcome !== 'broken',
    ).length,
    excluded: count('excluded'),
    broken: count('broken'),
  };
}
