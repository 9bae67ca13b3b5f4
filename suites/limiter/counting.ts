import type { Context } from '../requirement.ts';
import { stream } from './burst.ts';
import type { Supply } from './kinds.ts';

/** Parts of a threshold that are spent on each further kind: every sum of some of them is another. */
const PARTS = [1 / 2, 1 / 4];

/** Below it the parts are too small to be told apart. */
export const LEAST_THRESHOLD = 8;

/**
 * Which kinds of requests count beside the one that is known to: spends a part of the threshold on
 * each of them, and sees how much of it is left for the known one (Limits: not shown).
 *
 * @param threshold what passes of the known kind alone; one of them, and no more, went before
 * @returns whether each kind counts, by its name; undefined where what was left does not tell
 */
export async function whatCounts(
  context: Context,
  known: Supply,
  others: readonly Supply[],
  threshold: number,
): Promise<Readonly<Record<string, boolean>> | undefined> {
  const spent = others.map((_, at) => Math.floor(threshold * PARTS[at]!));
  for (const [at, other] of others.entries()) await context.burst(...other.next(spent[at]!));
  const { passed } = await stream(context, known, { most: threshold + 1 });
  const missing = threshold - passed;
  // What went before may be in a window of its own.
  const explanations = subsets(others.length).filter((counts) => {
    const sum = counts.reduce((total, does, at) => total + (does ? spent[at]! : 0), 0);
    return missing === sum || missing === sum + 1;
  });
  const [only] = explanations;
  return only !== undefined && explanations.length === 1
    ? Object.fromEntries(others.map(({ kind }, at) => [kind, only[at]!]))
    : undefined;
}

/** Every way to choose some of so many. */
function subsets(size: number): readonly (readonly boolean[])[] {
  if (size === 0) return [[]];
  return subsets(size - 1).flatMap((rest) => [
    [...rest, false],
    [...rest, true],
  ]);
}
