import type { RequirementResult } from '../schemas/generated/types.ts';

/** Results by their suite, which is the first segment of an id, in the order of the record. */
export function bySuite(
  results: readonly RequirementResult[],
): ReadonlyMap<string, readonly RequirementResult[]> {
  const suites = new Map<string, RequirementResult[]>();
  for (const result of results) {
    const suite = result.id.split('/', 1)[0] ?? '';
    const rows = suites.get(suite);
    if (rows === undefined) suites.set(suite, [result]);
    else rows.push(result);
  }
  return suites;
}
