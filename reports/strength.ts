import type { RunRecord } from '../schemas/generated/types.ts';
import { count, compact } from './text.ts';

/** `narrowed by --skip`: the flags that kept a run from checking the whole interface; undefined without them. */
export function narrowedBy({ selection }: Pick<RunRecord, 'selection'>): string | undefined {
  if (selection === undefined) return undefined;
  const flags = compact(
    selection.replay !== undefined && '--replay',
    !selection.whole && '--only',
    selection.skip.length > 0 && '--skip',
  );
  return flags.length === 0 ? undefined : `narrowed by ${flags.join(' and ')}`;
}

const FULL_STRENGTH = 2;

/** The strength of a run, if it is meaningful. It is not for a narrowed run, which omits lookups on purpose. */
const statedStrength = ({ strength, selection }: RunRecord): number | undefined =>
  selection?.whole === true && selection.replay === undefined ? strength : undefined;

/** Whether a run tried too few combinations for an unqualified verdict. */
export const isLowStrength = (record: RunRecord): boolean =>
  (statedStrength(record) ?? FULL_STRENGTH) < FULL_STRENGTH;

/** Whether `--strict` makes a run incomplete: it left out levels, and not because a requirement was skipped. */
export const lacksLevels = (record: RunRecord): boolean =>
  statedStrength(record) === 0 && record.selection?.skip.length === 0;

/** `short run: 140 of 182 levels tried`: the remark on a verdict with low strength. */
export const describeStrength = ({ strength, coverage }: RunRecord): string =>
  `short run: ${strength === 0 ? combinations(coverage?.levels, 'levels') : combinations(coverage?.pairs, 'pairs')} tried`;

/** `conditions tried together: all 2,134 pairs, 11,232 of 23,304 triples`; undefined if it is meaningless. */
export function combinationSentence(record: RunRecord): string | undefined {
  const { coverage } = record;
  if (statedStrength(record) === undefined || coverage === undefined) return undefined;
  const { pairs, triples } = coverage;
  return `conditions tried together: ${combinations(pairs, 'pairs')}, ${combinations(triples, 'triples')}`;
}

/** `all 2,134 pairs`, `1,804 of 2,134 pairs` */
function combinations([covered, total]: readonly [number, number] = [0, 0], what: string): string {
  return covered === total ? `all ${count(total)} ${what}` : `${count(covered)} of ${count(total)} ${what}`;
}
