import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { Problem } from '../schemas/problem.ts';
import { parseChaos, parseSpec } from './chaos-spec.ts';

describe('what a spec says', () => {
  test('a kind, and a rate that is 1 where it is left out', () => {
    assert.deepEqual(parseSpec('500:0.1'), {
      name: '500',
      rate: 0.1,
      cause: { kind: 'status', status: 500 },
    });
    assert.deepEqual(parseSpec('429:1'), { name: '429', rate: 1, cause: { kind: 'status', status: 429 } });
    assert.deepEqual(parseSpec('reset:.02'), { name: 'reset', rate: 0.02, cause: { kind: 'reset' } });
    assert.deepEqual(parseSpec('timeout'), { name: 'timeout', rate: 1, cause: { kind: 'timeout' } });
    assert.deepEqual(parseSpec('truncate:0'), { name: 'truncate', rate: 0, cause: { kind: 'truncate' } });
  });
  test('slow, with one time or two', () => {
    const slow = (spec: string) => parseSpec(spec);
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
          const { rate: share } = parseSpec(pieces.join(''));
          assert.ok(share >= 0 && share <= 1);
        } catch (error) {
          assert.ok(error instanceof Problem);
        }
      }),
      { seed: 7, numRuns: 2000 },
    );
  });
});
