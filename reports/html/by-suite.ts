import type { RequirementResult } from '../../schemas/generated/types.ts';

/** Results by their suite, the first segment of an id. */
export function bySuite(
  results: readonly RequirementResult[],
): ReadonlyMap<string, readonly RequirementResult[]> {
  const suites = new Map<string, RequirementResult[]>();
  for (const result of results) {
    const suite = result.id.split('/', 1)[0] ?? '';
    const rows = suites.get(suite) ?? [];
    rows.push(result);
    suites.set(suite, rows);
  }
  return suites;
}
