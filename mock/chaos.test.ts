import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { chaosFor, chaosName, type ChaosAction, type ChaosPlan } from './chaos.ts';
import { parseChaos } from './chaos-spec.ts';

const DRAWS = 20_000;
const numbers = Array.from({ length: DRAWS }, (_, index) => index + 1);
const drawAll = (plan: ChaosPlan, seed: number, key = 'northwind') =>
  numbers.map((number) => chaosFor(plan, seed, key, number));
const shareOf = (actions: readonly (ChaosAction | undefined)[], kind: ChaosAction['kind']) =>
  actions.filter((action) => action?.kind === kind).length / actions.length;

/** Five standard deviations of a share; the seeds are fixed, so what passes once passes always. */
const bound = (rate: number) => 5 * Math.sqrt((rate * (1 - rate)) / DRAWS);

function near(actual: number, rate: number): void {
  assert.ok(Math.abs(actual - rate) <= bound(rate), `${actual} for ${rate}`);
}

describe('rates', () => {
  for (const seed of [1, 7, 2 ** 40])
    for (const rate of [0.02, 0.1, 0.5, 0.97])
      test(`one fault comes at its rate: ${rate}, seed ${seed}`, () =>
        near(shareOf(drawAll(parseChaos([`reset:${rate}`]), seed), 'reset'), rate));
  test('0 spares all and 1, also where it is left out, spares none', () => {
    assert.equal(shareOf(drawAll(parseChaos(['reset:0']), 7), 'reset'), 0);
    for (const spec of ['reset', 'reset:1', 'reset:1.0'])
      assert.equal(shareOf(drawAll(parseChaos([spec]), 7), 'reset'), 1);
  });
  test('of several, each comes at its rate among the requests that those before it spare', () => {
    const actions = drawAll(
      parseChaos(['slow:1s:0.5', 'truncate:0.3', '503:0.2', 'timeout:0.1', 'reset:0.2']),
      7,
    );
    near(shareOf(actions, 'reset'), 0.2);
    near(shareOf(actions, 'timeout'), 0.8 * 0.1);
    near(shareOf(actions, 'status'), 0.8 * 0.9 * 0.2);
    near(shareOf(actions, 'truncate'), 0.8 * 0.9 * 0.8 * 0.3);
    near(shareOf(actions, 'slow'), 0.8 * 0.9 * 0.8 * 0.7 * 0.5);
  });
  test('delays are whole ms, spread over their bounds, both of which they keep', () => {
    const delays = drawAll(parseChaos(['slow:200ms..2s']), 7).map((action) =>
      action?.kind === 'slow' ? action.delayMs : Number.NaN,
    );
    assert.ok(delays.every((delay) => Number.isInteger(delay) && delay >= 200 && delay <= 2000));
    assert.ok(Math.min(...delays) < 210 && Math.max(...delays) > 1990);
    near(delays.filter((delay) => delay < 1100).length / DRAWS, 0.5);
  });
  test('whether a request is slow says nothing about how slow', () => {
    const delays = drawAll(parseChaos(['slow:0ms..1000ms:0.1']), 7).flatMap((action) =>
      action?.kind === 'slow' ? [action.delayMs] : [],
    );
    assert.ok(Math.max(...delays) > 950);
  });
});

const plan = parseChaos(['500:0.2', '429:0.2', 'reset:0.1', 'slow:10ms..9s:0.3']);

describe('replay', () => {
  test('the same seed brings the same faults for ever', () => {
    const names = numbers.slice(0, 12).map((number) => {
      const action = chaosFor(plan, 7, 'northwind', number);
      return action === undefined ? '-' : chaosName(action);
    });
    assert.equal(names.join(' '), '500 - slow:5284ms 500 - - 500 - 429 reset - -');
  });
  test('another seed and another key bring others', () => {
    const first = drawAll(plan, 7);
    assert.notDeepEqual(drawAll(plan, 8), first);
    assert.notDeepEqual(drawAll(plan, 7, 'contoso'), first);
    const same = drawAll(plan, 8).filter(
      (action, index) => (action === undefined) === (first[index] === undefined),
    );
    // Two draws that know nothing of each other agree that often.
    const spared = 0.8 * 0.8 * 0.9 * 0.7;
    near(same.length / DRAWS, spared ** 2 + (1 - spared) ** 2);
  });
  test('the order across keys makes no difference', () => {
    const keys = fc.array(fc.constantFrom('northwind', 'contoso', 'k 1', 'k', ''), { maxLength: 40 });
    const seen = (order: readonly string[]) => {
      const counts = new Map<string, number>();
      return order
        .map((key) => {
          const number = (counts.get(key) ?? 0) + 1;
          counts.set(key, number);
          return JSON.stringify([key, number, chaosFor(plan, 7, key, number)]);
        })
        .toSorted();
    };
    fc.assert(
      fc.property(
        keys.chain((order) =>
          fc.tuple(fc.constant(order), fc.shuffledSubarray(order, { minLength: order.length })),
        ),
        ([order, other]) => assert.deepEqual(seen(other), seen(order)),
      ),
      { seed: 7 },
    );
  });
  test('a key and a number that join to the same text are still different requests', () => {
    const split = (key: string) =>
      numbers.slice(0, 200).map((number) => chaosFor(plan, 7, key, number)?.kind);
    assert.notDeepEqual(
      split('k1'),
      numbers.slice(0, 200).map((number) => chaosFor(plan, 7, 'k', 1_000 + number)?.kind),
    );
  });
  test('a rule keeps its draws whichever stand beside it, and a higher rate keeps those of a lower one', () => {
    const alone = drawAll(parseChaos(['reset:0.1']), 7);
    const beside = drawAll(parseChaos(['500:0.5', 'reset:0.1', 'slow:1s']), 7);
    const more = drawAll(parseChaos(['reset:0.3']), 7);
    alone.forEach((action, index) => {
      assert.equal(beside[index]?.kind === 'reset', action !== undefined);
      if (action !== undefined) assert.deepEqual(more[index], action);
    });
  });
});
