import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { renderMarkdown } from './markdown.ts';
import { byFix } from './results.ts';
import { markdownNodes, textOf } from './testing/parsers.ts';
import { anyRecord, hostileMarkdown, sampleFailure, sampleRecord } from './testing/records.ts';
import { printable } from './text.ts';

test('the report of the sample matches the golden file', () => {
  matchesSnapshot(new URL('markdown.golden.txt', import.meta.url), renderMarkdown(sampleRecord));
});

/** All allowed nodes: no link, no image, no HTML, no emphasis. */
const types = new Set(
  'root heading paragraph text inlineCode code strong list listItem table tableRow tableCell'.split(' '),
);
const headings =
  /^(?:[✅❌❓] .*|(?:Failed|Known failures|Broken|Not checked|Excluded|Observed where the interface is silent) \(\d+\)|Suites|[✗!] .*)$/s;

test('all text of a record becomes text or code, and all open requirements are named', () => {
  fc.assert(
    fc.property(anyRecord(hostileMarkdown), (record) => {
      const rows = record.requirements;
      const findings = rows.filter(({ outcome }) => outcome === 'failed' || outcome === 'broken');
      const open = rows.filter(({ outcome }) => outcome !== 'passed');
      // Findings with the same answer and condition have one title.
      const nodes = assertPlain(renderMarkdown(record), byFix(findings).length, open);
      const suites = new Set(rows.map(({ id }) => id.split('/')[0]));
      assert.equal(nodes.filter(({ type }) => type === 'tableRow').length, suites.size + 1);
    }),
  );
});

function assertPlain(text: string, findings: number, named: readonly { readonly id: string }[]) {
  const nodes = markdownNodes(text);
  for (const { type } of nodes) assert.ok(types.has(type), type);
  const titles = nodes.filter(({ type }) => type === 'heading').map(textOf);
  for (const title of titles) assert.match(title, headings);
  assert.equal(titles.filter((title) => /^[✗!]/.test(title)).length, findings);
  const codes = new Set(nodes.filter(({ type }) => type === 'inlineCode').map(({ value }) => value?.trim()));
  for (const { id } of named) assert.ok(id.trim() === '' || codes.has(printable(id, 300).trim()), id);
  return nodes;
}

test('known failures have their own section, and the mark matches the exit code', () => {
  const known = sampleRecord.requirements.map((result) =>
    result.outcome === 'failed' ? { ...result, baseline: 'ticket 1' } : result,
  );
  const of = (wrong: readonly string[]) =>
    renderMarkdown({
      ...sampleRecord,
      requirements: known,
      baseline: { file: 'b.json', verdict: 'conformant', wrong: [...wrong] },
    });
  assert.match(
    of([]),
    /^## ✅ conformant but for 2 known failures \(narrowed by --skip\): [^]*\n### Known failures \(3\)\n/,
  );
  assert.match(of([]), /\n- \*\*known\*\* ticket 1\n/);
  assert.doesNotMatch(of([]), /### Failed|only warns/);
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
  const shown = text.match(/^#### /gm)?.length ?? 0;
  assert.match(
    text,
    new RegExp(`\\n${2_000 - shown} more do not fit here\\. The json report has all of them\\.\\n$`),
  );
  assert.match(text, /\n\| `auth` \| {2}\| 2,000 \|/);
  assert.doesNotMatch(renderMarkdown(sampleRecord), /would not fit/);
});
