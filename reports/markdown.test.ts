import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure, failsRun } from './judgement.ts';
import { toMarkdown } from './markdown.ts';
import { runReport } from './run-report.ts';
import { worstFirst } from './similar.ts';
import { markdownNodes, textOf } from './testing/parsers.ts';
import { anyRecord, hostileMarkdown, sampleFailure, sampleRecord } from './testing/records.ts';
import { printable } from './text.ts';

const renderMarkdown = (record: RunRecord) => toMarkdown(runReport(record));

test('the report of the sample matches the golden file', () => {
  matchesSnapshot(new URL('markdown.golden.txt', import.meta.url), renderMarkdown(sampleRecord));
});

test('every requirement that did not pass is named, and each group of similar findings has a heading', () => {
  fc.assert(
    fc.property(anyRecord(hostileMarkdown), (record) => {
      const nodes = markdownNodes(renderMarkdown(record));
      const rows = record.requirements;
      const titles = nodes.filter(({ type, depth }) => type === 'Header' && depth === 4).map(textOf);
      const of = (some: RunRecord['requirements']) => worstFirst(some).length;
      const failing = rows.filter((row) => failsRun(record, row));
      const known = rows.filter(isKnownFailure);
      const warnings = rows.filter(
        (row) => row.outcome === 'failed' && !failing.includes(row) && !isKnownFailure(row),
      );
      const groups =
        of(failing) + of(known) + of(warnings) + of(rows.filter(({ outcome }) => outcome === 'broken'));
      assert.equal(titles.filter((title) => /^[✗!] /.test(title)).length, groups);
      const codes = new Set(nodes.filter(({ type }) => type === 'Code').map(({ value }) => value?.trim()));
      for (const { id } of rows) assert.ok(id.trim() === '' || codes.has(printable(id, 600).trim()), id);
      const suites = new Set(rows.map(({ id }) => id.split('/')[0]));
      const tables = suites.size === 0 ? 0 : suites.size + 1;
      assert.equal(nodes.filter(({ type }) => type === 'TableRow').length, tables);
    }),
  );
});

test('known failures have their own section, and the mark matches the exit code', () => {
  const known = sampleRecord.requirements.map((result) =>
    result.outcome === 'failed' ? { ...result, baseline: 'ticket 1' } : result,
  );
  const of = (wrong: readonly string[]) =>
    renderMarkdown({
      ...sampleRecord,
      counts: { ...sampleRecord.counts, broken: 0 },
      requirements: known,
      verdict: wrong.length > 0 ? 'nonconformant' : 'conformant',
      baseline: { file: 'b.json', wrong: [...wrong] },
    });
  assert.match(
    of([]),
    /^## ✅ `?conformant but for 2 known failures \(narrowed by --skip\): [^]*\n### Known failures\n/,
  );
  assert.match(of([]), /\n- \*\*known\*\* ticket 1\n/);
  assert.doesNotMatch(of([]), /### Failed|### Warnings/);
  assert.match(of(['x']), /^## ❌ /);
});

test("the Markdown stays below GitHub's limit, and counts what it omits", () => {
  const requirements = Array.from({ length: 2_000 }, (_, at) => ({
    ...sampleFailure,
    id: `auth/user-status/${at}`,
    // All have different conditions.
    where: [`id version: ${at}`],
    expected: '漢'.repeat(1_000),
    actual: '`'.repeat(1_000),
  }));
  const text = renderMarkdown({ ...sampleRecord, requirements });
  const bytes = Buffer.byteLength(text);
  assert.ok(bytes <= 1_000_000 && bytes > 990_000, `${bytes} bytes`);
  assert.match(text, /\n\d+ more do not fit here\. The json report has all of them\.\n$/);
  assert.match(text, /\n\| ✗ \| `auth` \| 2,000 failed \(warning only\) \|/);
  assert.doesNotMatch(renderMarkdown(sampleRecord), /would not fit/);
});
