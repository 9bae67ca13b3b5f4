import type { Failed, RequirementResult } from './generated/types.ts';

/** A failure that the baseline knows, with its reason. */
export type KnownFailed = Failed & { readonly baseline: string };

/** Whether a row failed, and the baseline of the run says why it may. */
export function isKnownFailure(row: RequirementResult): row is RequirementResult & KnownFailed {
  return row.outcome === 'failed' && row.baseline !== undefined;
}
