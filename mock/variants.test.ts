import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { reference, type Behaviour } from './behaviour.ts';
import type { HttpResponse } from './exchange.ts';
import { openProbes, probes } from './probes.ts';
import { answersTo } from './run-probes.ts';
import { variants } from './variants.ts';

/** Probes on matters that variants may read otherwise; the catalogue looks at their status alone. */
const open = new Set(['robustness/service/no-5xx', 'rate-limit/user-status/recovers']);
/** What counts as failed is open as well: here the limiter may set in later, or on other requests. */
const countedOtherwise = new Set([
  'limit-one-early',
  'limit-one-late',
  'only-invalid-ids-counted',
  'only-strangers-counted',
]);

/** What the interface says of an answer: status and content, with dates as instants. */
function meaning({ status, headers, body }: HttpResponse) {
  const text = headers['Content-Encoding'] === 'gzip' ? gunzipSync(body).toString() : body.toString();
  const content = (text === '' ? null : JSON.parse(text)) as Readonly<Record<string, unknown>> | null;
  const date = content?.['date_joined'];
  return {
    status,
    content: typeof date === 'string' ? { ...content, date_joined: Date.parse(date) } : content,
  };
}

const meanings = (id: string, behaviour: Behaviour) => answersTo(probes[id] ?? [], behaviour).map(meaning);
const decided = Object.keys(probes).filter((id) => !open.has(id));
/** Each row in a world of its own, and what is open in another. */
const everything = [...Object.values(probes), openProbes];
const allAnswers = (behaviour: Behaviour) => everything.flatMap((row) => answersTo(row, behaviour));
const expected = allAnswers(reference);

test('there are at least 25 variants with ids in kebab case and one sentence each', () => {
  assert.ok(Object.keys(variants).length >= 25);
  for (const [id, { what }] of Object.entries(variants)) {
    assert.match(id, /^[a-z0-9]+(-[a-z0-9]+)*$/);
    assert.match(what, /^\S.*\.$/, id);
  }
});

for (const [id, { what, change }] of Object.entries(variants)) {
  test(`${id} differs from the reference: ${what}`, () => {
    assert.ok(!isDeepStrictEqual(allAnswers(change(reference)), expected));
  });

  test(`${id} says what the interface says`, () => {
    const rows = decided.filter((row) => !(countedOtherwise.has(id) && row.startsWith('rate-limit/')));
    for (const row of rows) assert.deepEqual(meanings(row, change(reference)), meanings(row, reference), row);
  });

  test(`${id} labels every answer as JSON and answers none with 5xx`, () => {
    for (const { status, headers } of allAnswers(change(reference))) {
      assert.ok(status < 500);
      assert.match(headers['Content-Type'] ?? '', /^application\/(.+\+)?json(;|$)/i);
    }
  });
}
