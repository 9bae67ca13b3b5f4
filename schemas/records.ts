import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import validateBaseline from './generated/baseline.cjs';
import validateRecord from './generated/run-record.cjs';
import type { Baseline, RunRecord } from './generated/types.ts';
import { parseJson, schemaProblems } from './json.ts';
import { collectProblems, wrongUsage } from './problem.ts';

const FORMAT: RunRecord['format'] = 'ib-conformance/run/1';

/**
 * Reads a run record and checks its syntax, format, schema and ids.
 *
 * @param text the JSON text
 * @param where name of the file in messages
 * @param version of this ib-conformance
 * @throws Problem with code `usage`, a line for each problem with its place in the file
 */
export function readRecord(text: string, where: string, version: string): RunRecord {
  const found = parseJson(text, where, 'usage');
  rejectOtherFormats(found, where, version);
  const problems = collectProblems(where, 'usage');
  if (validateRecord(found)) problems.add([...duplicateIds(found), ...wrongVerdict(found)]);
  else {
    problems.add(schemaProblems(validateRecord.errors, 'the record'));
    problems.add(otherVersion(found, version));
  }
  problems.throwIfAny();
  return found as RunRecord;
}

function rejectOtherFormats(found: unknown, where: string, version: string): void {
  const format = (found as { readonly format?: unknown } | null)?.format;
  if (format === FORMAT) return;
  const other = /^ib-conformance\/run\/\d{1,9}$/.exec(String(format));
  const why =
    other === null
      ? 'is not a run record; `verify --report json=file` writes one'
      : `has the format ${other[0]}, but ib-conformance ${version} reads ${FORMAT}; use a newer version`;
  throw wrongUsage(`${where}: ${why}`);
}

/** Explains that another version wrote the record, which may cause the problems. */
function otherVersion(found: unknown, version: string): readonly string[] {
  const { version: other } = found as { readonly version?: unknown };
  return typeof other !== 'string' || other === version
    ? []
    : [`was written by ib-conformance ${JSON.stringify(other.slice(0, 40))}; this is ${version}`];
}

/** Rejects a verdict that is better than its rows. */
function wrongVerdict({ verdict, requirements }: RunRecord): readonly string[] {
  const failed = requirements.find(({ level, outcome }) => level === 'required' && outcome === 'failed');
  return failed === undefined || verdict === 'nonconformant'
    ? []
    : [`the verdict is ${verdict}, but the required ${failed.id} failed`];
}

/** Rejects duplicate ids, because reports and comparisons identify requirements by id. */
function duplicateIds({ requirements }: RunRecord): readonly string[] {
  const first = new Map<string, number>();
  return requirements.flatMap(({ id }, at) => {
    const before = first.get(id);
    if (before === undefined) first.set(id, at);
    return before === undefined ? [] : [`requirements[${at}].id is the same as requirements[${before}].id`];
  });
}

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
