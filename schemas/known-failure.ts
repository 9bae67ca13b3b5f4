import type { Failed, RequirementResult } from './generated/types.ts';

/** Whether a row failed and the baseline has a reason for it. */
export const isKnownFailure = (row: RequirementResult): row is Failed & { readonly baseline: string } =>
  row.outcome === 'failed' && row.baseline !== undefined;
