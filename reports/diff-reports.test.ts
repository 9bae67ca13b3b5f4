import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { RunRecord } from '../schemas/generated/types.ts';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { renderDiffConsole, renderDiffJson, renderDiffMarkdown } from './diff-reports.ts';
import { changeKinds, compare } from './diff.ts';
import { DANGEROUS, anyPair, earlierRecord, hostileMarkdown, sampleRecord } from './testing/records.ts';

const plain = { color: false, width: 160 };
const rendered = (before: RunRecord, after: RunRecord, options = plain) =>
  renderDiffConsole(compare(before, after), options);

test('newly failing requirements are shown in full, and the conclusion is last', () => {
  const text = rendered(earlierRecord, sampleRecord);
  assert.match(
    text,
    /\nnewly failing\n {2}✗ auth\/deposit-check\/revoked\n {6}required: passed before; failed in status now\n/,
  );
  assert.match(text, /\n✗ auth\/deposit-check\/revoked\n[^]* expected {5}401\n {2}actual {7}404\n/);
  assert.match(
    text,
    /\nregression: required requirements that passed before and fail now: auth\/deposit-check\/revoked\n/,
  );
  assert.match(
    text,
    /\nrequirements: 1 newly failing, 1 no longer verified, 1 fixed, 1 newly verified, 2 still failing, 2 added, 1 removed, 5 unchanged\n$/,
  );
  for (const [kind, words] of Object.entries(changeKinds))
    assert.equal(text.includes(`\n${words}\n`), kind !== 'unchanged', kind);
});

test('requirements that are no longer verified are named', () => {
  const losing = {
    ...sampleRecord,
    requirements: sampleRecord.requirements.filter(({ outcome }) => outcome !== 'passed'),
  };
  assert.match(
    rendered(sampleRecord, losing),
    /\nless verified: [^]*\npassed before and not checked now: valid\/user-status\/member\n/,
  );
  assert.match(rendered(losing, sampleRecord), /\nno regression: no required requirement passed before\n/);
  assert.match(
    rendered(sampleRecord, sampleRecord),
    /\nno regression: every required requirement that passed/,
  );
});

test('the comparison of the samples matches the golden file', () => {
  matchesSnapshot(
    new URL('diff-markdown.golden.txt', import.meta.url),
    renderDiffMarkdown(compare(earlierRecord, sampleRecord)),
  );
});

test('the Markdown fits into a comment on GitHub', () => {
  const many = (outcome: 'passed' | 'failed') => ({
    ...sampleRecord,
    requirements: Array.from({ length: 2_000 }, (_, at) => {
      const subject = { id: `a/b/${at}`, level: 'required', clause: 'c', title: 't', cases: 1 } as const;
      return outcome === 'passed'
        ? { ...subject, outcome }
        : { ...subject, outcome, aspect: 'status', expected: '漢'.repeat(999), actual: '2' };
    }),
  });
  const text = renderDiffMarkdown(compare(many('passed'), many('failed')));
  assert.ok(Buffer.byteLength(text) <= 60_000);
  assert.match(text, /^## ❌ regression: .*1,995 more/);
  assert.match(text, /\n\d+ more do not fit here\. The json report has all of them\.\n$/);
});

test('the JSON has the tendency, both runs, and each change with both results', () => {
  const data = JSON.parse(renderDiffJson(compare(earlierRecord, sampleRecord))) as {
    readonly tendency: string;
    readonly before: { readonly seed: number };
    readonly unchanged: readonly string[];
    readonly changes: readonly { readonly id: string; readonly after?: { readonly actual?: string } }[];
  };
  assert.deepEqual([data.tendency, data.before.seed], ['regression', 5]);
  assert.equal(data.changes[0]?.id, 'valid/user-status/member');
  assert.equal(data.changes.find(({ id }) => id === 'auth/deposit-check/revoked')?.after?.actual, '404');
  assert.equal(data.unchanged.length, 5);
  fc.assert(
    fc.property(anyPair(hostileMarkdown), ([before, after]) => {
      assert.doesNotMatch(renderDiffJson(compare(before, after)), DANGEROUS);
    }),
  );
});
