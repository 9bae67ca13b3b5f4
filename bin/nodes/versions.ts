import type { RunName } from './runs.ts';

/**
 * Versions of Node that are tested beside the one that runs CI, and what runs on each: of each line the first that
 * `engines` lets in, and the newest.
 */
export const versions: Readonly<Record<string, readonly RunName[]>> = {
  '20.20.0': ['package'],
  '22.12.0': ['package'],
  '22.23.3': ['runtime', 'package'],
  '24.0.0': ['package'],
  '24.21.0': ['runtime', 'package'],
  '26.0.0': ['package'],
  '26.10.0': ['everything', 'package'],
};

/** What `engines` in package.json is to say of versions that are tested, oldest first: each line from its first on. */
export function enginesOf(tested: readonly string[]): string {
  const majorOf = (version: string) => version.split('.')[0];
  const firsts = tested.filter((version, nth) => nth === 0 || majorOf(version) !== majorOf(tested[nth - 1]!));
  return firsts.map((first, nth) => (nth < firsts.length - 1 ? `^${first}` : `>=${first}`)).join(' || ');
}
