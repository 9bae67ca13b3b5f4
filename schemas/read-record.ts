import validate from './generated/run-record.cjs';
import type { RunRecord } from './generated/types.ts';
import { collectProblems } from './fixture-problems.ts';
import { parseJson } from './parse-json.ts';
import { Problem } from './problem.ts';
import { schemaProblems } from './schema-problems.ts';

const FORMAT: RunRecord['format'] = 'ib-conformance/run/1';

/**
 * Reads a run record and checks it whole: syntax, format, schema, ids.
 *
 * @param text the JSON text
 * @param where how messages name the file
 * @param version of ib-conformance, that reads it
 * @throws Problem with code `usage`, a line for each problem with its place in the file
 */
export function readRecord(text: string, where: string, version: string): RunRecord {
  if (/^\uFEFF?\{"line":/.test(text))
    throw new Problem('usage', `${where}: is a transcript: \`ib-conformance judge\` makes its record`);
  const found = parseJson(text.replace(/^\uFEFF/, ''), where, 'usage');
  refuseOtherFormats(found, where, version);
  const problems = collectProblems(where, 'usage');
  if (validate(found)) problems.add(repeatedIds(found));
  else problems.add([...schemaProblems(validate.errors ?? [], 0, 'the record'), ...writer(found, version)]);
  problems.throwIfAny();
  return found as RunRecord;
}

function refuseOtherFormats(found: unknown, where: string, version: string): void {
  const format = (found as { readonly format?: unknown } | null)?.format;
  if (format === FORMAT) return;
  const isRecord = typeof format === 'string' && /^ib-conformance\/run\/\d{1,9}$/.test(format);
  throw new Problem(
    'usage',
    isRecord
      ? `${where}: is a record of the format ${format}, and ib-conformance ${version} reads ${FORMAT}: take a newer version`
      : `${where}: is no run record; \`verify --report json=file\` writes one`,
  );
}

/** A record of another version may hold what this one does not know. */
function writer(found: unknown, version: string): readonly string[] {
  const { version: other } = found as { readonly version?: unknown };
  return typeof other !== 'string' || other === version
    ? []
    : [`was written by ib-conformance ${JSON.stringify(other.slice(0, 40))}, and this is ${version}`];
}

/** Reports and comparisons know a requirement by its id. */
function repeatedIds({ requirements }: RunRecord): readonly string[] {
  const first = new Map<string, number>();
  return requirements.flatMap(({ id }, at) => {
    const before = first.get(id);
    if (before === undefined) first.set(id, at);
    return before === undefined ? [] : [`requirements[${at}].id is the same as requirements[${before}].id`];
  });
}
