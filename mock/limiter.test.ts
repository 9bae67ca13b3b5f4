import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answersTo, deposit, ids, user, type Probe } from './testing/session.ts';

/** Thresholds and windows: `decisions.test.ts`. */
const times = (count: number, one: Probe) => Array.from({ length: count }, () => one);
const statuses = (probes: readonly Probe[]) => answersTo(probes).map(({ status }) => status);
const failed = times(60, user(ids.nobody));

test('members and refused keys do not count; a limited key that is wrong gets 401', () => {
  const wrong = user(ids.nobody, { key: 'nope' });
  assert.ok(!statuses([...times(500, user(ids.member)), ...times(100, wrong), ...failed]).includes(429));
  assert.equal(statuses([...failed, wrong]).at(-1), 401);
});

test('a new window counts from zero', () => {
  const again = times(60, user(ids.nobody, { atMs: 3000 }));
  const [last, next] = [5999, 6000].map((atMs) => user(ids.nobody, { atMs }));
  const all = statuses([...failed, user(ids.nobody), ...again, last!, next!]);
  assert.deepEqual(all.slice(60), [429, ...times(60, last!).map(() => 200), 429, 200]);
});

test('a refused request is no poll', () => {
  const limited = [...times(3, deposit(ids.afterPolls)), ...times(247, deposit(ids.executed))];
  const asked = [...limited, deposit(ids.afterPolls), deposit(ids.afterPolls, { atMs: 3000 })];
  const found = answersTo(asked).at(-1)!;
  assert.equal(found.status, 200);
  assert.match(String(found.body), /"executedAt":1736942403000/);
});
