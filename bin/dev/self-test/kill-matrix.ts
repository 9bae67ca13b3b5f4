import { readFileSync, writeFileSync } from 'node:fs';

/** The required and recommended requirements that each fault fails, by its id. */
export type KillMatrix = Readonly<Record<string, readonly string[]>>;

interface Kill {
  readonly id: string;
  /** The requirements that failed. */
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

/**
 * Returns the matrix with new results.
 *
 * @param kills of all faults, or of some
 * @param ids of all faults, in the order of the file; others are dropped
 */
export function updated(matrix: KillMatrix, kills: readonly Kill[], ids: readonly string[]): KillMatrix {
  const found = new Map(kills.map(({ id, failed }) => [id, failed]));
  return Object.fromEntries(
    ids.flatMap((id) => {
      const failed = found.get(id) ?? matrix[id];
      return failed === undefined ? [] : [[id, failed.toSorted()]];
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
