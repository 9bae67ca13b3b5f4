import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import * as fc from 'fast-check';
import type { RunRecord } from '../schemas/generated/types.ts';
import { renderDiffConsole } from './diff-reports.ts';
import { changeKinds, compare } from './diff.ts';
import { anyPair, hostileText } from './testing/arbitraries.ts';
import { earlierRecord, sampleRecord } from './testing/records.ts';
import { columns } from './text.ts';

const plain = { color: false, width: 160 };
const rendered = (before: RunRecord, after: RunRecord, options = plain) =>
  renderDiffConsole(compare(before, after), options);

test('what newly fails is told in full, what it comes to last', () => {
  const text = rendered(earlierRecord, sampleRecord);
  assert.match(
    text,
    /\nnewly failing\n {2}✗ auth\/deposit-check\/revoked\n {6}required: passed before; failed in status now\n/,
  );
  assert.match(text, /\n✗ auth\/deposit-check\/revoked\n[^]* expected {2}401\n {2}actual {4}404\n/);
  assert.match(text, /\nregression: required, passed before and failing now: auth\/deposit-check\/revoked\n/);
  assert.match(
    text,
    /\nrequirements: 1 newly failing, 1 no longer verified, 1 mended, 1 newly verified, 2 still failing, 2 added, 1 removed, 5 unchanged\n$/,
  );
  for (const [kind, words] of Object.entries(changeKinds))
    assert.equal(text.includes(`\n${words}\n`), kind !== 'unchanged', kind);
});

test('what was lost is named', () => {
  const losing = {
    ...sampleRecord,
    requirements: sampleRecord.requirements.filter(({ outcome }) => outcome !== 'passed'),
  };
  assert.match(
    rendered(sampleRecord, losing),
    /\nless verified: [^]*\nrequired, passed before and not judged now: valid\/user-status\/member\n/,
  );
  assert.match(rendered(losing, sampleRecord), /\nno regression: nothing that is required passed before\n/);
  assert.match(rendered(sampleRecord, sampleRecord), /\nno regression: all that is required and passed/);
});

test('runs of a hostile target: nothing to act on, no line too wide, no forged end, colour only where asked for', () => {
  fc.assert(
    fc.property(anyPair(hostileText), fc.integer({ min: 60, max: 200 }), ([before, after], width) => {
      const text = rendered(before, after, { color: false, width });
      assert.doesNotMatch(text, /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      const lines = text.split('\n');
      const tooWide = lines.filter((line) => columns(line) > width && !/^ {2}(request|replay) /.test(line));
      assert.deepEqual(tooWide, []);
      const ends = lines.filter((line) => /^(?:regression|less verified|no regression):/.test(line));
      assert.equal(ends.length, 1);
      assert.equal(stripVTControlCharacters(rendered(before, after, { color: true, width })), text);
    }),
  );
});
