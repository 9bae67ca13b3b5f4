import { readFileSync, writeFileSync } from 'node:fs';

/**
 * The required and recommended requirements that each fault fails with every one of five seeds, by its id. The first one
 * is the owner of the fault: the self-test demands that it fails, with any seed. The others say what else breaks.
 */
export type KillMatrix = Readonly<Record<string, readonly string[]>>;

interface Kill {
  readonly id: string;
  /** The requirements that failed with one seed. */
  readonly failed: readonly string[];
}

const file = new URL('kill-matrix.json', import.meta.url);

export const readKillMatrix = (): KillMatrix => JSON.parse(readFileSync(file, 'utf8')) as KillMatrix;

/** Writes a matrix, one fault a line. */
export function writeKillMatrix(matrix: KillMatrix): void {
  const rows = Object.entries(matrix).map(
    ([id, failed]) => `  ${JSON.stringify(id)}: ${JSON.stringify(failed).replaceAll('","', '", "')}`,
  );
  writeFileSync(file, `{\n${rows.join(',\n')}\n}\n`);
}

/** Returns the requirements that failed in each of these runs. */
export const failedInEach = ([first, ...others]: readonly Kill[]): readonly string[] =>
  (first?.failed ?? []).filter((name) => others.every(({ failed }) => failed.includes(name)));

/**
 * Returns the matrix with new results. A fault keeps its owner while that fails with each seed. Otherwise, the owner is
 * the requirement that the fewest faults fail.
 *
 * @param kills of all faults, or of some; each with several seeds
 * @param ids of all faults, in the order of the file; others are dropped
 */
export function updated(matrix: KillMatrix, kills: readonly Kill[], ids: readonly string[]): KillMatrix {
  const rows = ids.flatMap((id) => {
    const found = kills.filter((kill) => kill.id === id);
    const failed = found.length === 0 ? matrix[id] : failedInEach(found);
    return failed === undefined ? [] : [{ id, failed }];
  });
  const countOf = (name: string) => rows.filter(({ failed }) => failed.includes(name)).length;
  return Object.fromEntries(
    rows.map(({ id, failed }) => {
      const sorted = failed.toSorted();
      const [rarest] = sorted.toSorted((a, b) => countOf(a) - countOf(b));
      const owner = sorted.find((name) => name === matrix[id]?.[0]) ?? rarest;
      return [id, sorted.toSorted((a, b) => Number(b === owner) - Number(a === owner))];
    }),
  );
}

/** Returns what a matrix no longer says: faults that are gone, and requirements that faults no longer fail. */
export const removals = (before: KillMatrix, after: KillMatrix): readonly string[] =>
  Object.entries(before).flatMap(([id, failed]) => {
    const now = after[id];
    if (now === undefined) return [`the fault ${id}`];
    return failed.filter((name) => !now.includes(name)).map((name) => `${name} for the fault ${id}`);
  });

/** Returns the gaps between a matrix and the faults: entries without a fault. */
export const strayEntries = (matrix: KillMatrix, ids: readonly string[]): readonly string[] =>
  Object.keys(matrix)
    .filter((id) => !ids.includes(id))
    .map((id) => `the kill matrix has ${id}, which is no fault; npm run self-test -- --update removes it`);
