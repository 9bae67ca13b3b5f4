import type { RequirementResult } from '../schemas/generated/types.ts';
import { shortened } from './conclusion.ts';
import { changeKinds, changesOf, isLoss, isRegression, type ChangeKind, type Comparison } from './diff.ts';
import { count } from './units.ts';

/** How many ids a sentence names; the rest it counts. */
const MOST_IDS = 6;

/**
 * What a comparison comes to, in sentences: whether the target got worse and in what, then how many
 * requirements changed in which way.
 *
 * The sentences hold ids as the records have them: escape them for where they go.
 */
export function diffConclusion(comparison: Comparison): readonly [string, ...string[]] {
  const ids = (test: typeof isLoss) =>
    shortened(
      comparison.changes.filter(test).map(({ id }) => id),
      MOST_IDS,
    ).join(', ');
  const losses = comparison.changes.some(isLoss)
    ? [`required, passed before and not judged now: ${ids(isLoss)}`]
    : [];
  const headlines = {
    regression: `regression: required, passed before and failing now: ${ids(isRegression)}`,
    'less verified': 'less verified: nothing that is required and passed before is known to fail',
    'no regression': `no regression: ${
      comparison.before.requirements.some(isRequiredPass)
        ? 'all that is required and passed before passes now'
        : 'nothing that is required passed before'
    }`,
  } as const satisfies Record<Comparison['tendency'], string>;
  return [headlines[comparison.tendency], ...losses, numbersOf(comparison)];
}

const isRequiredPass = ({ level, outcome }: RequirementResult) =>
  level === 'required' && outcome === 'passed';

/** `requirements: 1 newly failing, 2 mended, 40 unchanged` */
function numbersOf(comparison: Comparison): string {
  const parts = (Object.keys(changeKinds) as ChangeKind[]).flatMap((kind) => {
    const { length } = changesOf(comparison, kind);
    return length === 0 ? [] : [`${count(length)} ${changeKinds[kind]}`];
  });
  return `requirements: ${parts.length === 0 ? 'none in either run' : parts.join(', ')}`;
}
