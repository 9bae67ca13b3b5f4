import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Failed, RunRecord } from '../../schemas/generated/types.ts';
import { matchesSnapshot } from '../../schemas/testing/snapshot.ts';
import { runReport } from '../run-report.ts';
import { worstFirst } from '../similar.ts';
import { toHtml } from './page.ts';
import { attribute, withClass, parsed, textIn, type Element } from '../testing/parsers.ts';
import { anyRecord, hostileMarkup, hostileText, sampleFailure, sampleRecord } from '../testing/records.ts';
import { printable } from '../text.ts';

const renderHtml = (record: RunRecord) => toHtml(runReport(record));
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

test('the page shows every text of a record, with invisible characters made visible', () => {
  fc.assert(
    fc.property(anyRecord(fc.oneof(hostileText, hostileMarkup)), (record) => {
      const page = parsed(renderHtml(record));
      const isShown = (text: string, most: number) =>
        assert.ok(page.texts.has(printable(text, most).trim()), JSON.stringify(text));
      for (const result of record.requirements) {
        isShown(result.id, 600);
        if (result.outcome === 'observed') isShown(result.words, 20_000);
      }
      for (const { first } of worstFirst(record.requirements.filter(({ outcome }) => outcome === 'failed'))) {
        const { clause, reading = clause, counterexample } = first as Failed;
        for (const text of [clause, reading]) isShown(text, 20_000);
        if (counterexample !== undefined) isShown(counterexample.curl, 20_000);
        const { expected, actual } = first as Failed;
        if (Math.max(expected.length, actual.length) <= 100)
          assert.ok(sides(page).includes(pairOf(expected, actual)), JSON.stringify(first));
      }
    }),
  );
});

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
  /** The same with long texts everywhere. */
  const enlarged = (failed: Failed) =>
    JSON.parse(JSON.stringify(failed), (name, value: unknown) => {
      if (name === 'headers') return headers;
      return typeof value === 'string' && !/^(?:level|outcome)$/.test(name) ? huge : value;
    }) as Failed;
  const requirements = sampleRecord.requirements.map((one) => {
    if (one.outcome === 'passed') return one;
    return one.outcome === 'failed' ? enlarged(one) : { ...one, words: huge };
  });
  const page = renderHtml({ ...sampleRecord, target: huge, notes: [huge], requirements });
  assert.ok(page.length < 2_000_000, `${page.length} characters`);
  assert.ok(page.includes('cut: the body has 1,000,000 characters'));
});

test('the first ten findings are open, the others are collapsed', () => {
  const requirements = Array.from({ length: 12 }, (_, at) => {
    const response = { status: 500 + at, headers: {}, body: '' };
    const counterexample = { ...sampleFailure.counterexample!, response };
    return { ...sampleFailure, id: `a/b/${at}`, actual: `${500 + at} no`, counterexample };
  });
  const page = renderHtml({ ...sampleRecord, requirements });
  assert.equal(page.match(/<details[^>]* open/g)?.length, 10);
});

test('missing parts of the record are omitted', () => {
  const { rerun: _rerun, ...rest } = sampleRecord;
  const empty = parsed(renderHtml({ ...rest, verdict: 'incomplete', requirements: [] }));
  assert.ok(empty.texts.has('nothing was checked'));
  assert.ok(!empty.texts.has('Requirements') && sample.texts.has('Requirements'));
});

test('a finding with an id that could clash with another anchor gets a number', () => {
  const ids = ['a/b', 'section-0', 'a b/c', '', '/a'];
  const requirements = ids.map((id, at) => {
    const response = { status: 500 + at, headers: {}, body: '' };
    const counterexample = { ...sampleFailure.counterexample!, response };
    return { ...sampleFailure, id, actual: `${500 + at} no`, counterexample };
  });
  const page = parsed(renderHtml({ ...sampleRecord, requirements }));
  const numbered = [1, 2, 3, 4].map((nth) => `finding-${nth}`);
  assert.deepEqual(withClass(page, 'finding').map(idOf), ['a/b', ...numbered]);
});
