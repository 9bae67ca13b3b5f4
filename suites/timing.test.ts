import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { Reply } from './answer.ts';
import type { Request } from './request.ts';
import type { Context } from './requirement.ts';
import { answerOf } from './sample-answers.ts';
import { sampleKnown } from './sample-known.ts';
import { rankTest, timing } from './timing.ts';

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
  const hidden = sampleKnown.foreigners.map(({ user_id }) => user_id);
  const scenario = timing('user-status', { lacks: () => undefined, hidden: () => hidden });
  const isHidden = (request: Request) => hidden.some((id) => request.target.endsWith(id));
  return { finding: (await scenario.run(context as Context, sampleKnown)).finding, isHidden };
}

const took = (tookMs: number): Reply => ({ ...answerOf(200, {}), tookMs });

describe('what answer times tell', () => {
  test('a slow look at foreign users is found', async () => {
    const slow = sampleKnown.foreigners.map(({ user_id }) => user_id);
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
