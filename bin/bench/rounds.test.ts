import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alternate } from './rounds.ts';

test('the rounds go to and fro, and the samples stay in their order', async () => {
  const asked: string[] = [];
  const entrant = (name: string) => (round: number) => {
    asked.push(`${name}${round}`);
    return Promise.resolve({ ms: round });
  };
  const samples = await alternate({ a: entrant('a'), b: entrant('b') }, 3, () => undefined);
  assert.deepEqual(asked, ['a0', 'b0', 'b1', 'a1', 'a2', 'b2']);
  const each = [{ ms: 0 }, { ms: 1 }, { ms: 2 }];
  assert.deepEqual(samples, { a: each, b: each });
});
