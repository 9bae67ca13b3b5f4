import type { RunRecord } from '../schemas/generated/types.ts';

/** Ids of the required and recommended requirements that a run found failed. */
export function failedIds({ requirements }: RunRecord): readonly string[] {
  return requirements.flatMap(({ id, level, outcome }) =>
    outcome === 'failed' && level !== 'observed' ? [id] : [],
  );
}
