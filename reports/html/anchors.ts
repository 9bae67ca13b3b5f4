import type { RequirementResult } from '../../schemas/generated/types.ts';

/** Characters of an anchor at most. */
const MOST = 120;

/** The `id` in the page that leads to a requirement. */
export type AnchorOf = (result: RequirementResult) => string;

/**
 * Anchors of requirements: their own ids, so that a link outlives the run. Other characters than ours have become
 * `_`, and what would stand twice, or is `taken` by the page, is numbered.
 */
export function anchorsOf(results: readonly RequirementResult[], taken: readonly string[]): AnchorOf {
  const used = new Set(taken);
  const anchors = new Map(
    results.map((result) => {
      const plain = result.id.slice(0, MOST).replaceAll(/[^\w./-]/g, '_') || '_';
      let anchor = plain;
      for (let next = 2; used.has(anchor); next++) anchor = `${plain}-${next}`;
      used.add(anchor);
      return [result, anchor];
    }),
  );
  return (result) => anchors.get(result)!;
}
