import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue } from '../catalogue.ts';
import { schedule } from './schedule.ts';

const { early, lanes, alone, limiters } = schedule(catalogue);
const names = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

test('every scenario runs once', () => {
  const scenarios = catalogue.filter(({ kind }) => kind === 'scenario');
  const placed = names([...lanes.flat(), ...alone, ...limiters]);
  assert.deepEqual(placed.toSorted(), names(scenarios).toSorted());
});

test('a scenario polls deposits that become EXECUTED from the start; limiters come last', () => {
  assert.deepEqual(names(early), ['pending/deposit-check/becomes-executed']);
  assert.ok(limiters.length > 0 && limiters.every((one) => one.id.startsWith('rate-limit/')));
});

test('the state of the target changes while nothing else runs', () => {
  const revocations = ['revocation', 'revocation-spares'].flatMap((name) => [
    `auth/user-status/${name}`,
    `auth/deposit-check/${name}`,
  ]);
  assert.deepEqual(names(alone), ['pending/deposit-check/becomes-executed', ...revocations]);
});

test('a lane has one endpoint, and required scenarios come first', () => {
  for (const lane of [...lanes, limiters]) {
    const levels = lane.map(({ level }) => ['required', 'recommended', 'observed'].indexOf(level));
    assert.deepEqual(
      levels,
      levels.toSorted((a, b) => a - b),
    );
  }
  for (const lane of lanes) assert.equal(new Set(lane.map(({ id }) => id.split('/')[1])).size, 1);
});
