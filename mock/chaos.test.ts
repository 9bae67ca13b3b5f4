import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { Problem } from '../schemas/problem.ts';
import {
  chaosFor,
  chaosName,
  countChaos,
  newChaos,
  nextChaos,
  parseChaos,
  queuedChaos,
  type ChaosAction,
  type ChaosPlan,
} from './chaos.ts';

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

test('each entry befalls as many requests as it says, in order', () => {
  const chaos = newChaos([], 7);
  chaos.queue = [queuedChaos('503', 2), queuedChaos('slow:1.5s', 1), queuedChaos('reset', 1)];
  const names = Array.from({ length: 5 }, () => {
    const action = nextChaos(chaos, 'k');
    assert.equal(nextChaos(chaos, 'k'), action, 'asking uses nothing up');
    countChaos(chaos, 'k');
    return action && chaosName(action);
  });
  assert.deepEqual(names, ['503', '503', 'slow:1500ms', 'reset', undefined]);
});

test('what is no entry is refused in words to mend it by', () => {
  const refused = (kind: string, count: number, message: string) =>
    assert.throws(() => queuedChaos(kind, count), { name: 'Problem', code: 'usage', message });
  refused('503:0.5', 1, 'chaos 503:0.5: the next requests take no rate; leave it out');
  refused('slow:1s..2s', 1, 'chaos slow:1s..2s: the next requests take one time, such as slow:2s');
  for (const count of [0, -1, 1.5, Number.NaN, 1e9])
    refused('503', count, `chaos 503: count has to be a whole number from 1 to 1000000: ${count}`);
  refused(
    'resett',
    1,
    'chaos resett: there is no such kind; did you mean reset? (kinds: 429, 500 to 599, reset, timeout, slow, truncate)',
  );
});

const parseOne = (spec: string) => parseChaos([spec])[0]!;

describe('what a spec says', () => {
  test('a kind, and a rate that is 1 where it is left out', () => {
    assert.deepEqual(parseOne('500:0.1'), {
      name: '500',
      rate: 0.1,
      cause: { kind: 'status', status: 500 },
    });
    assert.deepEqual(parseOne('429:1'), { name: '429', rate: 1, cause: { kind: 'status', status: 429 } });
    assert.deepEqual(parseOne('reset:.02'), { name: 'reset', rate: 0.02, cause: { kind: 'reset' } });
    assert.deepEqual(parseOne('timeout'), { name: 'timeout', rate: 1, cause: { kind: 'timeout' } });
    assert.deepEqual(parseOne('truncate:0'), { name: 'truncate', rate: 0, cause: { kind: 'truncate' } });
  });
  test('slow, with one time or two', () => {
    const slow = (spec: string) => parseOne(spec);
    const cause = { kind: 'slow', leastMs: 200, mostMs: 2000 };
    assert.deepEqual(slow('slow:200ms..2s'), { name: 'slow', rate: 1, cause });
    assert.deepEqual(slow('slow:0.2s..2000ms:0.5'), { name: 'slow', rate: 0.5, cause });
    assert.deepEqual(slow('slow:1.5s').cause, { kind: 'slow', leastMs: 1500, mostMs: 1500 });
    assert.deepEqual(slow('slow:0ms..10m').cause, { kind: 'slow', leastMs: 0, mostMs: 600_000 });
  });
  test('a plan is in its own order, statuses in the one they are given', () => {
    const names = parseChaos(['slow:1s', '503:0.1', 'truncate', 'timeout', '429:0.1', 'reset']).map(
      ({ name }) => name,
    );
    assert.deepEqual(names, ['reset', 'timeout', '503', '429', 'truncate', 'slow']);
    assert.deepEqual(parseChaos([]), []);
  });
});

const kinds = '(kinds: 429, 500 to 599, reset, timeout, slow, truncate)';
const rate = 'the rate has to be a number from 0 to 1, such as 0.1 for one request in ten';
const time = 'say how slow, by a time of up to 10m or by two, such as slow:200ms or slow:200ms..2s';

/** By specs, what is said about them. */
const refused: Readonly<Record<string, string>> = {
  'rest:0.1': `chaos rest:0.1: there is no such kind; did you mean reset? ${kinds}`,
  'Timeout:0.1': `chaos Timeout:0.1: there is no such kind; did you mean timeout? ${kinds}`,
  '5O0:0.1': `chaos 5O0:0.1: there is no such kind; did you mean 500? ${kinds}`,
  '404:0.1': `chaos 404:0.1: there is no such kind ${kinds}`,
  '600': `chaos 600: there is no such kind ${kinds}`,
  'earthquake:1': `chaos earthquake:1: there is no such kind ${kinds}`,
  __proto__x: `chaos __proto__x: there is no such kind ${kinds}`,
  '500:2': `chaos 500:2: ${rate}`,
  '500:-1': `chaos 500:-1: ${rate}`,
  '500:10%': `chaos 500:10%: ${rate}`,
  '500:': `chaos 500:: ${rate}`,
  '500:1e-1': `chaos 500:1e-1: ${rate}`,
  '500:0.1:0.2': 'chaos 500:0.1:0.2: there is more behind the rate; write 500:0.1',
  'slow:1s:0.1:2': 'chaos slow:1s:0.1:2: there is more behind the rate; write slow:1s:0.1',
  slow: `chaos slow: ${time}`,
  'slow:0.5': `chaos slow:0.5: ${time}`,
  'slow:200': `chaos slow:200: ${time}`,
  'slow:1s..': `chaos slow:1s..: ${time}`,
  'slow:..1s': `chaos slow:..1s: ${time}`,
  'slow:1s..2s..3s': `chaos slow:1s..2s..3s: ${time}`,
  'slow:11m': `chaos slow:11m: ${time}`,
  'slow:2s..1s': 'chaos slow:2s..1s: the shorter time comes first, as in slow:200ms..2s',
  'reset:0.1 reset:0.2': 'chaos reset: is given twice; give it once, with one rate',
};

describe('what is refused, in words to mend it by', () => {
  for (const [specs, message] of Object.entries(refused))
    test(specs, () =>
      assert.throws(() => parseChaos(specs.split(' ')), { name: 'Problem', code: 'usage', message }),
    );
  test('any other text as well: never another error, never a rate out of bounds', () => {
    const piece = fc.oneof(
      fc.constantFrom('slow', '500', 'reset', ':', '..', '1s', '0.5', '200ms', '__proto__', 'toString'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        try {
          const { rate: share } = parseOne(pieces.join(''));
          assert.ok(share >= 0 && share <= 1);
        } catch (error) {
          assert.ok(error instanceof Problem);
        }
      }),
      { seed: 7, numRuns: 2000 },
    );
  });
});
