import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { RequirementResult, RunRecord } from '../../schemas/generated/types.ts';
import { matchesSnapshot } from '../../schemas/testing/snapshot.ts';
import { renderHtml } from './page.ts';
import { anchorsOf } from './parts.ts';
import { attribute, withClass, parsed, textIn, type Element } from '../testing/parsers.ts';
import { anyRecord, hostileText, sampleFailure, sampleRecord } from '../testing/records.ts';
import { printable } from '../text.ts';

const sample = parsed(renderHtml(sampleRecord));
const idOf = (element: Element) => attribute(element, 'id');

/** To update: `UPDATE_SNAPSHOT=1 node --import tsx --test reports/html/page.test.ts`. Without the styles. */
test('the page of the sample matches the golden file', () => {
  const page = renderHtml(sampleRecord);
  const body = `${page.slice(page.indexOf('<body>'), page.indexOf('</html>')).trim()}\n`;
  matchesSnapshot(new URL('page.golden.html', import.meta.url), body);
});

test('the policy allows only the styles of the page, by their hashes', () => {
  const hashes = sample.elements
    .filter(({ tagName }) => tagName === 'style')
    .map((style) => `'sha256-${createHash('sha256').update(textIn(style)).digest('base64')}'`);
  assert.ok(hashes.length > 0);
  const policy = sample.elements.find((element) => attribute(element, 'http-equiv') !== undefined);
  assert.equal(
    attribute(policy!, 'content'),
    `default-src 'none'; style-src ${hashes.join(' ')}; base-uri 'none'; form-action 'none'`,
  );
});

/** All allowed elements and attributes. None runs scripts, loads files or leaves the page. */
const elementsKnown =
  /^(?:html|head|meta|title|style|body|header|main|nav|section|div|h[1-4]|p|span|a|small|strong|code|i|mark|br|dl|dt|dd|ul|ol|li|table|thead|tbody|tr|th|td|details|summary|fieldset|legend|label|input|figure|figcaption|svg|line|rect|text)$/;
const attributesKnown =
  /^(?:charset|http-equiv|content|name|lang|id|class|href|title|role|aria-(?:label|labelledby|hidden)|scope|open|data-outcome|type|checked|[xy][12]?|width|height|text-anchor)$/;

function assertInert({ elements, errors }: ReturnType<typeof parsed>): void {
  assert.deepEqual(errors, []);
  for (const { tagName, attrs } of elements) {
    assert.match(tagName, elementsKnown);
    for (const { name, value } of attrs) {
      assert.match(name, attributesKnown);
      if (name === 'href') assert.match(value, /^#[\w./-]+$/);
    }
  }
}

test('for any record, the page is well-formed and inert, shows all texts, and every link has one target', () => {
  fc.assert(
    fc.property(anyRecord(fc.oneof(hostileText, hostileMarkup)), (drawn) => {
      const requirements = [...new Map(drawn.requirements.map((result) => [result.id, result])).values()];
      const page = parsed(renderHtml({ ...drawn, requirements }));
      assertInert(page);
      const ids = page.elements.map(idOf).filter((id) => id !== undefined);
      assert.equal(new Set(ids).size, ids.length);
      const links = page.elements.flatMap((element) => attribute(element, 'href')?.slice(1) ?? []);
      for (const link of links) assert.ok(ids.includes(link), link);
      // Invisible characters are made visible.
      const isShown = (text: string, most: number) =>
        assert.ok(page.texts.has(printable(text, most).trim()), JSON.stringify(text));
      for (const result of requirements) {
        for (const text of [result.title, result.id, result.clause, result.reading ?? result.id])
          isShown(text, 600);
        if (result.outcome === 'observed') isShown(result.words, 600);
        if ('counterexample' in result && result.counterexample !== undefined)
          isShown(result.counterexample.curl, 20_000);
        if (result.outcome === 'failed' && Math.max(result.expected.length, result.actual.length) <= 100)
          assert.ok(sides(page).includes(pairOf(result.expected, result.actual)), JSON.stringify(result));
      }
    }),
  );
});

const hostileMarkup = fc.constantFrom(
  '</script><script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '" onmouseover="alert(1)',
  '</style><style>*{display:none}',
  '</title><b>',
  '<!--',
  ']]>',
  'javascript:alert(1)',
  '&lt;b&gt;&#60;&#x202e;',
  '</details></section></main>',
  '<svg><script>',
);

const pairOf = (...texts: readonly string[]) =>
  JSON.stringify(texts.map((text) => (text === '' ? '(nothing)' : printable(text, 2000))));

/** Returns expected and actual of every comparison. */
function sides(page: ReturnType<typeof parsed>): readonly string[] {
  const texts = withClass(page, 'side').map(({ childNodes }) => {
    const code = childNodes.find((node): node is Element => node.nodeName === 'code');
    return textIn(code!);
  });
  return texts.flatMap((text, at) => (at % 2 === 0 ? [JSON.stringify([text, texts[at + 1]])] : []));
}

test('the page stays small for any size of answers', () => {
  const huge = '\u202e"<&'.repeat(250_000);
  const headers = Object.fromEntries(Array.from({ length: 500 }, (_, nth) => [`x-${nth}`, huge]));
  const requirements = sampleRecord.requirements.map((result): RunRecord['requirements'][number] =>
    result.outcome === 'failed'
      ? {
          ...result,
          id: `${result.id}${huge}`,
          title: huge,
          clause: huge,
          reading: huge,
          aspect: huge,
          expected: `${huge}a`,
          actual: `${huge}b`,
          counterexample: {
            request: { method: huge, target: huge, headers, body: huge },
            response: { status: 200, headers, body: huge },
            curl: huge,
          },
        }
      : result.outcome === 'passed'
        ? result
        : { ...result, words: huge },
  );
  const page = renderHtml({ ...sampleRecord, target: huge, notes: [huge], requirements });
  assert.ok(page.length < 2_000_000, `${page.length} characters`);
  assert.ok(page.includes('Cut: the body has 1,000,000 characters'));
  assert.ok(page.includes('and 460 more'));
});

test('the first ten findings are open, the others are collapsed', () => {
  const requirements = Array.from({ length: 12 }, (_, at) => {
    const response = { status: 500 + at, headers: {}, body: '' };
    const counterexample = { ...sampleFailure.counterexample!, response };
    return { ...sampleFailure, id: `a/b/${at}`, counterexample };
  });
  const page = renderHtml({ ...sampleRecord, requirements });
  assert.equal(page.match(/<details[^>]* open/g)?.length, 10);
});

test('missing parts of the record are omitted', () => {
  const { rerun: _rerun, ...rest } = sampleRecord;
  const ids = (record: RunRecord) => parsed(renderHtml(record)).elements.map(idOf);
  assert.ok(ids(sampleRecord).includes('rerun'));
  assert.ok(!ids({ ...rest, requirements: [] }).includes('rerun'));
  const empty = parsed(renderHtml({ ...rest, verdict: 'incomplete', requirements: [] }));
  assert.ok(empty.texts.has('nothing was checked'));
});

test('an id that could clash with another anchor is replaced', () => {
  const results = ['a/b', 'findings', 'a b/c', '', '/a'].map((id): RequirementResult => ({
    ...sampleRecord.requirements[0]!,
    id,
  }));
  assert.deepEqual(results.map(anchorsOf(results)), [
    'a/b',
    ...[1, 2, 3, 4].map((nth) => `requirement-${nth}`),
  ]);
});

test('unverified rows are grouped by reason, each with its words if they differ', () => {
  const [first, second] = sampleRecord.requirements.filter(({ outcome }) => outcome === 'inconclusive');
  const titles = (one: string, other: string) => {
    const requirements = [
      { ...first!, reason: 'depends', words: one },
      { ...second!, reason: 'depends', words: other },
    ] as RunRecord['requirements'];
    const { elements } = parsed(renderHtml({ ...sampleRecord, requirements, notes: [] }));
    const glance = elements.find((element) => attribute(element, 'class') === 'glance');
    return textIn(glance!);
  };
  assert.match(titles('see a', 'see b'), /depends\s[^]*: see a\s[^]*: see b\s/);
  assert.match(titles('see a', 'see a'), /depends: see a\s/);
  assert.doesNotMatch(titles('see a', 'see a'), /see a[^]*see a/);
});
