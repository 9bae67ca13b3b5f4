import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { cell, code, fenced, prose } from './markdown-text.ts';
import { markdownNodes, textOf } from './testing/parsers.ts';
import { hostileMarkdown } from './testing/records.ts';
import { printable } from './text.ts';

const texts: readonly (readonly [text: string, shown: string])[] = [
  ['A user of the caller’s IB (required): 200, "yes"', 'A user of the caller’s IB (required): 200, "yes"'],
  ['date_joined is null', String.raw`date\_joined is null`],
  ['a *b*', '`a *b*`'],
  ['see http://evil.example', '`see http://evil.example`'],
  ['www.evil.example', '`www.evil.example`'],
  ['@octocat', '`@octocat`'],
  ['fixes #1', '`fixes #1`'],
  ['GH-1', '`GH-1`'],
  ['at 0123abc', '`at 0123abc`'],
  [':tada:', '`:tada:`'],
  ['<img src=x>', '`<img src=x>`'],
  ['$x$', '`$x$`'],
  ['`', '`` ` ``'],
  ['', '(blank)'],
];

for (const [text, shown] of texts) test(`prose: ${text}`, () => assert.equal(prose(text, 100), shown));

test('prose and code read as what they are, whatever stands beside them', () => {
  fc.assert(
    fc.property(hostileMarkdown, fc.constantFrom(prose, code), (text, write) => {
      const nodes = markdownNodes(`- **label** ${write(text, 300)}\n- next`);
      assert.deepEqual(
        nodes.map(({ type }) => type).filter((type) => type !== 'inlineCode'),
        ['root', 'list', 'listItem', 'paragraph', 'strong', 'text', 'text', ...rest(nodes)],
      );
      const read = textOf(nodes.find(({ type }) => type === 'paragraph')!);
      assert.equal(read.replace('label ', '').trim(), printable(text, 300).trim() || '(blank)');
    }),
  );
});

/** The item after it, as it always is. */
const rest = (nodes: ReturnType<typeof markdownNodes>) => nodes.slice(-3).map(({ type }) => type);

test('no cell ends before its text', () => {
  fc.assert(
    fc.property(hostileMarkdown, (text) => {
      const nodes = markdownNodes(`| a | b |\n| --- | --- |\n| ${cell(text, 300)} | 1 |`);
      const cells = nodes.filter(({ type }) => type === 'tableCell').map(textOf);
      const shown = printable(text.replaceAll('|', String.raw`\u{7c}`), 300).trim() || '(blank)';
      assert.deepEqual([cells[2]?.trim(), cells[3], cells.length], [shown, '1', 4]);
    }),
  );
});

test('no fence ends before its lines', () => {
  fc.assert(
    fc.property(fc.array(hostileMarkdown, { minLength: 1, maxLength: 4 }), (drawn) => {
      const lines = drawn.map((text) => printable(text, 300));
      const nodes = markdownNodes(fenced('text', lines));
      assert.deepEqual(
        nodes.map(({ type, value }) => [type, value]),
        [
          ['root', undefined],
          ['code', lines.join('\n')],
        ],
      );
    }),
  );
});
