import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixtureWarnings } from './fixture-warnings.ts';

const key = (text: string) => ({ key: text, partner: 'p', state: 'active' }) as const;
const warningsOf = (text: string) => fixtureWarnings({ apiKeys: [key('sk_live_1'), key(text)] });

for (const text of [
  '$IB_API_KEY',
  '{{ key }}',
  '${{ secrets.KEY }}',
  '%KEY%',
  '"sk_live_1"',
  "'x'",
  '***',
  '<your key>',
])
  test(`a key that is no key: ${text}`, () => {
    const [warning, ...others] = warningsOf(text);
    assert.match(warning!, /^apiKeys\[1\]\.key looks like a /);
    assert.deepEqual(others, []);
  });

test('a real key has no warning, and none is shown', () => {
  for (const text of ['sk_live_1', 'a$b', 'Zm9v==', 'x-1']) assert.deepEqual(warningsOf(text), []);
});

test('executedAt in seconds is told by its year', () => {
  const deposit = (executedAt: number) =>
    ({ reference_id: 'r', user_id: 'u', state: 'EXECUTED', amountInUsd: 1, executedAt }) as const;
  assert.deepEqual(fixtureWarnings({ deposits: [deposit(1_705_314_600_000)] }), []);
  assert.deepEqual(fixtureWarnings({ deposits: [deposit(1_705_314_600_000), deposit(1_705_314_600)] }), [
    'deposits[1].executedAt is in 1970: it is in ms, and this may be seconds',
  ]);
});
