import type { Failed, Inconclusive, RunRecord } from '../schemas/generated/types.ts';

/**
 * The command that checks one requirement again: with the very input that failed where the record
 * has its path, else with the same seed. Undefined where the record does not say how it was run.
 */
export function replayCommand(record: RunRecord, result: Failed | Inconclusive): string | undefined {
  if (record.rerun === undefined) return undefined;
  const { seed, path } = result.replay ?? { seed: record.seed, path: undefined };
  return [
    record.rerun,
    `--only ${/^[\w./-]+$/.test(result.id) ? result.id : quoted(result.id)}`,
    `--seed ${seed}`,
    ...(path === undefined ? [] : [`--replay ${quoted(path)}`]),
  ].join(' ');
}

/** A word for a POSIX shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
