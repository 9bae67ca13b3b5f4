/** Three properties of every report, whatever texts a target, a fixture or a client supplies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import * as fc from 'fast-check';
import { checkupReport } from './checkup.ts';
import { toConsole } from './console.ts';
import { toHtml } from './html/page.ts';
import { toMarkdown } from './markdown.ts';
import { runReport } from './run-report.ts';
import { sweepReport } from './sweep.ts';
import { attribute, markdownNodes, parsed } from './testing/parsers.ts';
import {
  anyCheckup,
  anyRecord,
  anySweep,
  DANGEROUS,
  hostileMarkdown,
  hostileMarkup,
  hostileText,
} from './testing/records.ts';
import { columns } from './text.ts';

const hostile = fc.oneof(hostileText, hostileMarkdown, hostileMarkup);

/** Any report of any kind, short and whole. */
const anyReport = fc.oneof(
  anyRecord(hostile).map((record) => runReport(record)),
  anyRecord(hostile).map((record) => runReport(record, 'all in run.html')),
  anyCheckup(hostile).map(checkupReport),
  anySweep(hostile).map(sweepReport),
);

test('on the console, no text affects a terminal, widens a line that is no command, or looks like the headline', () => {
  assert.match('\u001b[2J', DANGEROUS);
  fc.assert(
    fc.property(anyReport, fc.integer({ min: 60, max: 200 }), (report, width) => {
      const text = toConsole(report, { color: false, width });
      assert.doesNotMatch(text, DANGEROUS);
      assert.equal(stripVTControlCharacters(toConsole(report, { color: true, width })), text);
      const lines = text.split('\n');
      const wide = lines.filter(
        (line) => columns(line) > width && !/^(?: {2}(?:request|replay) {2,}|(?:run|next): )/.test(line),
      );
      assert.deepEqual(wide, []);
      const headline = /^(?:nonconformant|conformant|incomplete|ready|not ready|\d+ checks? failed|th)/;
      const isForged = (line: string) =>
        headline.test(line) && !/^the (?:same inputs|target contr)/.test(line);
      assert.ok(lines.filter(isForged).length <= 1, text);
    }),
  );
});

/** All allowed nodes: no link, no image, no HTML, no emphasis. */
const nodes = new Set(
  'Document Header Paragraph Str Code CodeBlock Strong List ListItem Table TableRow TableCell'.split(' '),
);

test('no text becomes Markdown', () => {
  fc.assert(
    fc.property(anyReport, (report) => {
      const all = markdownNodes(toMarkdown(report));
      for (const { type } of all) assert.ok(nodes.has(type), type);
      const texts = new Set(
        all.filter(({ type }) => type === 'Strong').map(({ children }) => children![0]!.value),
      );
      for (const label of texts) assert.match(label!, /^[\w ]+$/);
    }),
  );
});

/** All allowed elements and attributes. None runs scripts, loads files or leaves the page. */
const elements =
  /^(?:html|head|meta|title|style|body|header|main|nav|section|div|h[1-4]|p|span|a|small|code|mark|dl|dt|dd|ul|li|table|thead|tbody|tr|th|td|details|summary|figure|figcaption|svg|path)$/;
const attributes =
  /^(?:charset|http-equiv|content|name|lang|id|class|href|title|role|aria-(?:label|labelledby|hidden)|scope|open|data-column|viewBox|preserveAspectRatio|d)$/;

test('no text becomes HTML: the page is well-formed and inert, and every link has one target', () => {
  fc.assert(
    fc.property(anyReport, (report) => {
      const page = parsed(toHtml(report));
      assert.deepEqual(page.errors, []);
      for (const { tagName, attrs } of page.elements) {
        assert.match(tagName, elements);
        for (const { name, value } of attrs) {
          assert.match(name, attributes);
          if (name === 'href') assert.match(value, /^#[\w./-]+$/);
        }
      }
      const ids = page.elements.map((one) => attribute(one, 'id')).filter((id) => id !== undefined);
      assert.equal(new Set(ids).size, ids.length);
      for (const link of page.elements.flatMap((one) => attribute(one, 'href')?.slice(1) ?? []))
        assert.ok(ids.includes(link), link);
    }),
  );
});
