import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import validateBaseline from './generated/baseline.cjs';
import type { Baseline } from './generated/types.ts';
import { parseJson, schemaProblems } from './json.ts';
import { collectProblems } from './problem.ts';

/** A baseline file. */
export interface BaselineFile extends ReturnType<typeof readBaseline> {}

/**
 * Reads a baseline. Does not check its ids; the run does.
 *
 * @param file name of the file in messages
 * @returns entries in the order of the file, including repetitions, each with its line (from 1)
 * @throws Problem with code `usage`, a line for each problem with its place in the file
 */
export function readBaseline(text: string, file: string) {
  const value = parseJson(text, file, 'usage');
  const problems = collectProblems(file, 'usage');
  if (!validateBaseline(value)) problems.add(schemaProblems(validateBaseline.errors, 'the baseline'));
  problems.throwIfAny();
  const { $schema: schema, known } = value as Baseline;
  const plain = text.replace(/^\uFEFF/, '');
  const root = parseTree(plain)!;
  const lineOf = (index: number) => {
    const { offset } = findNodeAtLocation(root, ['known', index])!;
    return plain.slice(0, offset).split('\n').length;
  };
  return {
    file,
    ...(schema !== undefined && { schema }),
    known: known.map((entry, index) => ({ ...entry, line: lineOf(index) })),
  };
}
