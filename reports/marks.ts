import type { RequirementResult } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import type { Tone } from './palette.ts';

/** Mark and tone of every outcome. */
const marks = {
  passed: { mark: '✓', tone: 'good' },
  failed: { mark: '✗', tone: 'bad' },
  inconclusive: { mark: '?', tone: 'unsure' },
  observed: { mark: '·', tone: 'plain' },
  excluded: { mark: '–', tone: 'quiet' },
  broken: { mark: '!', tone: 'ours' },
} as const satisfies Record<RequirementResult['outcome'], { readonly mark: string; readonly tone: Tone }>;

/** Every outcome, in the order in which they are told. */
export const outcomes: readonly string[] = Object.keys(marks);

/** Mark of a result, and its tone: a failure that is known, or of what is not required, only warns. */
export function markOf(result: RequirementResult): { readonly mark: string; readonly tone: Tone } {
  const { mark, tone } = marks[result.outcome];
  const isMild = result.outcome === 'failed' && (result.level !== 'required' || isKnownFailure(result));
  return { mark, tone: isMild ? 'warning' : tone };
}
