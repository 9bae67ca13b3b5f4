import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import validate from './generated/baseline.cjs';
import type { KnownFailure } from './generated/types.ts';
import { parseJson } from './parse-json.ts';
import { Problem } from './problem.ts';
import { schemaProblems } from './schema-problems.ts';

/** A known failure, and the line of the file that it begins on, from 1. */
export interface BaselineEntry extends KnownFailure {
  readonly line: number;
}

/** A baseline as it was read. */
export interface ReadBaseline {
  /** How messages name the file. */
  readonly file: string;
  /** The value of its `$schema`. */
  readonly schema?: string;
  /** In the order of the file, twins and all. */
  readonly known: readonly BaselineEntry[];
}

/**
 * Reads a baseline. What its entries say is not judged here: a run does that.
 *
 * @param file how messages name it
 * @throws Problem with code `usage`, a line for each problem with its place in the file
 */
export function readBaseline(text: string, file: string): ReadBaseline {
  const plain = text.replace(/^\uFEFF/, '');
  const value = parseJson(plain, file, 'usage');
  if (!validate(value)) {
    const problems = schemaProblems(validate.errors ?? [], 0, 'the baseline');
    throw new Problem('usage', problems.map((problem) => `${file}: ${problem}`).join('\n'));
  }
  const root = parseTree(plain)!;
  const lineOf = (index: number) => {
    const { offset } = findNodeAtLocation(root, ['known', index])!;
    return plain.slice(0, offset).split('\n').length;
  };
  const { $schema: schema } = value;
  return {
    file,
    ...(schema === undefined ? {} : { schema }),
    known: value.known.map((entry, index) => ({ ...entry, line: lineOf(index) })),
  };
}
