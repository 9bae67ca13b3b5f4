import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { Problem } from './problem.ts';
import { readFixture } from './read-fixture.ts';
import { readLargeFixture } from './read-large-fixture.ts';

const text = readFileSync(new URL('built-in.fixture.json', import.meta.url), 'utf8');

async function* inBlocks(whole: string, length: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(whole);
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** What comes of reading: the fixture, or the lines of the problem. */
async function outcome(read: () => unknown): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    assert.ok(error instanceof Problem);
    return error.message.split('\n');
  }
}

const env = { GOOD: 'pk_from_env', BAD: 'with space' };
const pieces = (whole: string, length: number) =>
  outcome(() => readLargeFixture(inBlocks(whole, length), 'f.json', env));
const whole = (broken: string) => outcome(() => readFixture(broken, 'f.json', env));

/** Mistakes in a fixture, one of each kind. */
const mistakes: Readonly<Record<string, (fixture: string) => string>> = {
  none: (fixture) => fixture,
  'an unknown part': (fixture) => fixture.replace('"partners"', '"partner"'),
  'an unknown field': (fixture) => fixture.replace('"date_joined"', '"joined"'),
  'an id of another version': (fixture) => fixture.replaceAll('33333333-3333-4333', '33333333-3333-1333'),
  'a date that does not exist': (fixture) => fixture.replace('2023-07-14', '2023-02-30'),
  'a part that is no list': (fixture) => fixture.replace(/"partners": \[.*\]/, '"partners": 5'),
  'an empty part': (fixture) => fixture.replace(/"partners": \[.*\]/, '"partners": []'),
  'an element that is no object': (fixture) => fixture.replace('{ "id": "contoso" }', '[]'),
  'a part of a strange name': (fixture) => fixture.replace('"partners"', '"__proto__"'),
  'a user twice': (fixture) =>
    fixture.replace('aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', '11111111-1111-4111-8111-111111111111'),
  'a deposit of nobody': (fixture) =>
    fixture.replace(
      /"user_id": "3{8}-3333-4333-8333-3{12}",\s*"partner"/,
      '"user_id": "33333333-3333-4333-8333-333333333334", "partner"',
    ),
  'a deposit of no state': (fixture) => fixture.replace('"failed"', '"lost"'),
  'two triggers': (fixture) => fixture.replace('"afterPolls": 3', '"afterPolls": 3, "afterSeconds": 3'),
  'a partner that there is not': (fixture) =>
    fixture.replace('"partner": "contoso",\n      "date', '"partner": "x",\n      "date'),
  'a key from the environment': (fixture) => fixture.replace('"contoso-key"', '"${GOOD}"'),
  'a key that is not set': (fixture) => fixture.replace('"contoso-key"', '"${NONE}"'),
  'a key with a space': (fixture) => fixture.replace('"contoso-key"', '"${BAD}"'),
  'a bad limit': (fixture) => fixture.replace('"requests": 250', '"requests": 0'),
  'a byte order mark': (fixture) => `\uFEFF${fixture}`,
  'more mistakes than are listed': (fixture) =>
    fixture.replaceAll(/"(user_id|reference_id)": "[^"]*"/g, '"$1": "x"'),
};

for (const [what, make] of Object.entries(mistakes))
  test(`read in pieces it says what it says as a whole: ${what}`, async () => {
    const broken = make(text);
    assert.ok(what === 'none' || broken !== text);
    for (const length of [3, 64, 700, 100_000]) {
      const found = await pieces(broken, length);
      assert.deepEqual(found, await whole(broken));
    }
  });

test('any change of a character: the same fixture, the same problems, or none that it can tell', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(text.length - 1),
      fc.constantFrom(...'0x"\\,:{}[] '),
      fc.integer({ min: 3, max: 2000 }),
      async (at, put, length) => {
        const broken = text.slice(0, at) + put + text.slice(at + 1);
        const found = await pieces(broken, length);
        const expected = await whole(broken);
        // Problems come in the order of the file.
        const sorted = (lines: unknown) => (Array.isArray(lines) ? new Set(lines) : lines);
        if (found === undefined)
          assert.match(String(expected), /is not JSON|the fixture is not|^f.json: the fixture/);
        else assert.deepEqual(sorted(found), sorted(expected));
      },
    ),
    { numRuns: 1000 },
  );
});

test('what is no JSON, or has a part twice, is left to the parser that says where', async () => {
  for (const broken of [
    text.slice(0, 400),
    `${text}x`,
    '[]',
    '',
    text.replace('"users": [', '"users": [{"x":1}], "users": ['),
  ])
    assert.equal(await pieces(broken, 100), undefined);
  assert.match(String(await whole(text.slice(0, 400))), /^f\.json:\d+:\d+: is not JSON/);
});
