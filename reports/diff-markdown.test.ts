import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { renderDiffJson, renderDiffMarkdown } from './diff-reports.ts';
import { compare } from './diff.ts';
import { anyPair, hostileMarkdown } from './testing/arbitraries.ts';
import { markdownNodes, textOf } from './testing/parsers.ts';
import { earlierRecord, sampleRecord } from './testing/records.ts';
import { printable } from './text.ts';

test('the comparison of the samples is as it was written down', () => {
  matchesSnapshot(
    new URL('diff-markdown.golden.txt', import.meta.url),
    renderDiffMarkdown(compare(earlierRecord, sampleRecord)),
  );
});

/** All that it is made of: no link, no image, no HTML, no emphasis. */
const types = new Set('root heading paragraph text inlineCode code strong list listItem'.split(' '));

test('no text of a record becomes anything but text or code, and every change is named', () => {
  fc.assert(
    fc.property(anyPair(hostileMarkdown), ([before, after]) => {
      const comparison = compare(before, after);
      const nodes = markdownNodes(renderDiffMarkdown(comparison));
      assert.deepEqual(
        nodes.filter(({ type }) => !types.has(type)),
        [],
      );
      const titles = nodes.filter(({ type }) => type === 'heading').map(textOf);
      assert.equal(
        titles.filter((title) => /^[✗!]/.test(title)).length,
        comparison.changes.filter(({ kind }) => kind === 'newlyFailing').length,
      );
      const named = new Set(
        nodes.filter(({ type }) => type === 'inlineCode').map(({ value }) => value?.trim()),
      );
      for (const { id, kind } of comparison.changes)
        if (kind !== 'unchanged') assert.ok(id.trim() === '' || named.has(printable(id, 300).trim()), id);
    }),
  );
});

test('it fits into a comment', () => {
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
  assert.match(text, /^## ❌ regression: .*1995 more/);
  assert.match(text, /\n\d+ more would not fit here: the json report has them all\.\n$/);
});

test('for programs: the tendency, both runs, and each change with what both say', () => {
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
      assert.doesNotMatch(renderDiffJson(compare(before, after)), /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    }),
  );
});
