import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Answer, Reply } from './answer.ts';
import { endpoints } from '../schemas/endpoints.ts';
import { foreignIb } from './foreign-ib.ts';
import { compare, rankTest, timing } from './indistinguishable.ts';
import { pending } from './pending.ts';
import type { Request } from './request.ts';
import type { Context, Scenario } from './requirement.ts';
import { answerOf, sampleKnown as known } from './testing/samples.ts';
import type { Verdict } from './verdict.ts';

const short = (verdict: Verdict) => (verdict.kind === 'failed' ? verdict.aspect : verdict.kind);
const notFound = { error: endpoints['deposit-check'].messages[404] };
const plain = answerOf(404, notFound);
const headed = (headers: Readonly<Record<string, string>>) => answerOf(404, notFound, headers);
/** An answer with the nth value of each header that differs from answer to answer. */
const headedEach = (name: string, values: readonly string[]) =>
  values.map((value) => headed({ [name]: value }));

/** Answers to hidden and to unknown ids, and what tells them apart. */
const comparisons: Readonly<
  Record<string, readonly [hidden: readonly Answer[], unknown: readonly Answer[], expected: string]>
> = {
  'equal answers': [[plain, plain], [plain, plain], 'held'],
  'random request ids': [
    headedEach('x-request-id', ['5f1', 'c02', '9aa']),
    headedEach('x-request-id', ['77b', '013', 'e4d']),
    'held',
  ],
  'a ticking Date': [headedEach('date', ['1', '1', '2']), headedEach('date', ['1', '2', '2']), 'held'],
  'a Date that ticks once': [
    headedEach('date', ['1', '1', '1']),
    headedEach('date', ['1', '1', '2']),
    'held',
  ],
  'a counter': [
    headedEach('x-remaining', ['9', '7', '5']),
    headedEach('x-remaining', ['8', '6', '4']),
    'held',
  ],
  'times that tell': [
    [headed({ date: '1', age: '0', expires: '9' }), headed({ date: '1', age: '0', expires: '9' })],
    [headed({ date: '2', age: '5', expires: '4' }), headed({ date: '2', age: '5', expires: '4' })],
    'held',
  ],
  'the id repeated': [headedEach('x-id', ['one', 'one', 'one']), headedEach('x-id', ['a', 'b', 'c']), 'held'],
  'bodies that repeat the id': [
    [answerOf(404, 'no one'), answerOf(404, 'no one')],
    [answerOf(404, 'no a'), answerOf(404, 'no b')],
    'held',
  ],
  'a header on some of both sides': [
    [headed({ 'x-cache': 'hit' }), plain],
    [plain, headed({ 'x-cache': 'hit' })],
    'held',
  ],
  'machines behind a load balancer': [
    headedEach('x-served-by', ['a', 'b', 'a']),
    headedEach('x-served-by', ['b', 'b', 'b']),
    'held',
  ],
  'an equal header of another order': [[headed({ a: '1', b: '2' })], [headed({ b: '2', a: '1' })], 'held'],

  'another status': [[answerOf(403, notFound), answerOf(403, notFound)], [plain, plain], 'status'],
  'various other statuses': [[answerOf(403, notFound), answerOf(410, notFound)], [plain, plain], 'status'],
  'another body': [[answerOf(404, { error: 'x' })], [plain], 'body'],
  'white space in the body': [[answerOf(404, '{ "error": "Deposit not found" }')], [plain], 'body'],
  'various other bodies': [[answerOf(404, 'no 1'), answerOf(404, 'no 2')], [plain, plain], 'body'],
  'a header more': [
    [headed({ 'x-owner': 'them' }), headed({ 'x-owner': 'them' })],
    [plain, plain],
    'presence of the header x-owner',
  ],
  'a header less': [
    [plain, plain],
    [headed({ 'x-miss': '1' }), headed({ 'x-miss': '1' })],
    'presence of the header x-miss',
  ],
  'a header more that varies': [
    headedEach('etag', ['one', 'two']),
    [plain, plain],
    'presence of the header etag',
  ],
  'another value of a header': [
    headedEach('cache-control', ['private', 'private']),
    headedEach('cache-control', ['no-store', 'no-store']),
    'header cache-control',
  ],
  'another length': [
    headedEach('content-length', ['30', '30']),
    headedEach('content-length', ['29', '29']),
    'header content-length',
  ],
};

describe('what tells hidden ids from unknown ones', () => {
  for (const [name, [hidden, unknown, expected]] of Object.entries(comparisons))
    test(`${name}: ${expected}`, () => assert.equal(short(compare(hidden, unknown)), expected));

  test('it is said with what was expected and what came', () => {
    assert.deepEqual(compare([answerOf(404, 'gone')], [plain]), {
      kind: 'failed',
      aspect: 'body',
      expected: `as for an unknown id: body ${plain.text}`,
      actual: '404 gone',
    });
    assert.deepEqual(compare([headed({ 'x-owner': 'them' })], [plain]), {
      kind: 'failed',
      aspect: 'presence of the header x-owner',
      expected: 'as for an unknown id: presence of the header x-owner absent',
      actual: 'presence of the header x-owner present',
    });
  });
});

/** What a requirement comes to at a target. */
async function outcomeOn(id: string, target: (request: Request, nth: number) => Answer): Promise<string> {
  const requirement = [...pending, ...foreignIb].find((candidate) => candidate.id === id) as Scenario;
  let nth = 0;
  const send = (...requests: readonly Request[]) =>
    Promise.resolve(requests.map((request) => target(request, nth++)));
  const { finding } = await requirement.run({ send, sendAtOnce: send } as unknown as Context, known);
  return finding.kind === 'observed' ? finding.kind : short(finding);
}

for (const id of [
  'pending/deposit-check/indistinguishable',
  'foreign-ib/deposit-check/indistinguishable',
  'foreign-ib/user-status/indistinguishable',
])
  test(`${id} holds of equal answers, and of machines, ids, numbers and times that show`, async () => {
    const targets: readonly ((request: Request, nth: number) => Answer)[] = [
      () => plain,
      ...[2, 3, 4].map(
        (count) => (_: Request, nth: number) => headed({ 'x-served-by': String(nth % count) }),
      ),
      ({ target }, nth) =>
        headed({ 'x-for': target, 'x-count': String(nth), date: String(Math.floor(nth / 3)) }),
    ];
    for (const target of targets) assert.equal(await outcomeOn(id, target), 'held');
  });

const hiddenIds = known.foreigners.map(({ user_id }) => user_id);
const isForeign = ({ target }: Request) => hiddenIds.some((id) => target.endsWith(id));
for (const [what, expected, fieldOf, step] of [
  ['a difference that recurs', 'header x-a', () => 'x-a', 1],
  ['a difference that does not', 'held', (nth) => (nth % 26 < 13 ? 'x-a' : 'x-b'), 1],
  ['a difference seconds apart', 'unjudged', () => 'x-a', 1000],
  ['a difference half a second apart', 'header x-a', () => 'x-a', 500],
] as const satisfies readonly (readonly [string, string, (nth: number) => string, number])[])
  test(`${what} is ${expected}`, async () => {
    const outcome = await outcomeOn('foreign-ib/user-status/indistinguishable', (request, nth) => ({
      ...headed({ 'x-a': '', 'x-b': '', [fieldOf(nth)]: String(isForeign(request)) }),
      sentAt: nth * step,
    }));
    assert.equal(outcome, expected);
  });

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, nth) => from + nth);

/** Samples with the effect and the two-sided p of other implementations (scipy, R), without continuity correction. */
const samples: Readonly<
  Record<string, readonly [first: readonly number[], second: readonly number[], effect: number, p: number]>
> = {
  'permeability constants (Hollander and Wolfe)': [
    [0.8, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46],
    [1.15, 0.88, 0.9, 0.74, 1.21],
    0.7,
    0.220671,
  ],
  'five below five': [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], 0, 0.009023],
  '25 below 25': [range(0, 25), range(25, 50), 0, 1.3328e-9],
  'ties across the samples': [[1, 2, 2, 3], [2, 3, 3, 4], 0.1875, 0.129155],
  'ties within them as well': [[1, 1, 2, 2, 3], [1, 2, 3, 3, 3], 0.3, 0.268481],
  'two values alone': [[0, 0, 0, 0, 1], [0, 1, 1, 1, 1], 0.2, 0.071861],
  'one value alone': [[1, 1, 1], [1, 1, 1], 0.5, 1],
};

describe('the rank test', () => {
  for (const [name, [first, second, effect, p]] of Object.entries(samples))
    test(name, () => {
      const result = rankTest(first, second);
      assert.ok(Math.abs(result.effect - effect) < 1e-9, String(result.effect));
      assert.ok(Math.abs(result.p - p) < Math.max(2e-6, p * 1e-6), String(result.p));
    });

  const sample = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 2, maxLength: 40 });
  test('is symmetric, knows no order and no unit', () => {
    fc.assert(
      fc.property(sample, sample, (first, second) => {
        const one = rankTest(first, second);
        const other = rankTest(second, first);
        assert.ok(Math.abs(one.effect + other.effect - 1) < 1e-9);
        assert.ok(Math.abs(one.p - other.p) < 1e-9);
        assert.deepEqual(rankTest(first.toReversed(), second.toReversed()), one);
        assert.deepEqual(
          rankTest(
            first.map((value) => 3 * value + 7),
            second.map((value) => 3 * value + 7),
          ),
          one,
        );
        assert.ok(one.effect >= 0 && one.effect <= 1 && one.p >= 0 && one.p <= 1);
      }),
    );
  });
  test('counts wins and half the ties', () => {
    fc.assert(
      fc.property(sample, sample, (first, second) => {
        const wins = first.flatMap((a) => second.map((b) => (a > b ? 1 : a === b ? 0.5 : 0)));
        const share = wins.reduce<number>((sum, win) => sum + win, 0) / wins.length;
        assert.ok(Math.abs(rankTest(first, second).effect - share) < 1e-9);
      }),
    );
  });
  test('more lookups show a smaller difference', () => {
    const detectable = [5, 10, 25, 100].map((size) => rankTest(range(0, size), range(0, size)).detectable);
    assert.deepEqual(
      detectable,
      detectable.toSorted((a, b) => b - a),
    );
    assert.ok(detectable.every((effect) => effect > 0.5 && effect <= 1));
    assert.ok(Math.abs(detectable[2]! - 0.73) < 0.01);
  });
});

/** Runs the scenario against a target that answers after so many ms. */
async function runAgainst(reply: (request: Request, nth: number) => Reply) {
  let nth = 0;
  const context: Pick<Context, 'send' | 'cases'> = {
    cases: 100,
    send: async (...requests) => requests.map((request) => reply(request, nth++)),
  };
  const hidden = known.foreigners.map(({ user_id }) => user_id);
  const scenario = timing('user-status', { needs: 'user outside the IB under test', hidden: () => hidden });
  const isHidden = (request: Request) => hidden.some((id) => request.target.endsWith(id));
  return { finding: (await scenario.run(context as Context, known)).finding, isHidden };
}

const took = (tookMs: number): Reply => ({ ...answerOf(200, {}), tookMs });

describe('what answer times tell', () => {
  test('a slow look at foreign users is found', async () => {
    const slow = known.foreigners.map(({ user_id }) => user_id);
    const { finding } = await runAgainst(({ target }, nth) =>
      took((nth % 7) + (slow.some((id) => target.endsWith(id)) ? 10 : 0)),
    );
    assert.equal(finding.kind, 'observed');
    assert.match(finding.words, /differ in time: effect 1\.00/);
  });
  test('equal times are not, and it is said what would have shown', async () => {
    const { finding } = await runAgainst((_, nth) => took((nth * 7) % 11));
    assert.equal(finding.kind, 'observed');
    assert.match(finding.words, /^no difference found: .* 25 against 25 lookups; one of 0\.73 or more/);
  });
  test('both kinds are asked for equally often', async () => {
    const asked: Request[] = [];
    const { isHidden } = await runAgainst((request) => {
      asked.push(request);
      return took(1);
    });
    assert.equal(asked.length, 50);
    assert.equal(asked.filter(isHidden).length, 25);
  });
  test('too few answers are no finding', async () => {
    const { finding } = await runAgainst((_, nth) =>
      nth < 8 ? took(1) : { kind: 'trouble', code: 'timeout', words: 'no answer' },
    );
    assert.equal(finding.kind, 'unjudged');
  });
});
