import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue } from '../catalogue.ts';
import { schedule } from './schedule.ts';

const { becoming, lanes, alone, limiters } = schedule(catalogue);
const names = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

test('every scenario runs once', () => {
  const scenarios = catalogue.filter(({ kind }) => kind === 'scenario');
  const placed = names([...becoming, ...lanes.flat(), ...alone, ...limiters]);
  assert.deepEqual(placed.toSorted(), names(scenarios).toSorted());
});

test('a scenario waits for deposits to become EXECUTED; limiters come last', () => {
  assert.deepEqual(names(becoming), ['pending/deposit-check/becomes-executed']);
  assert.ok(limiters.length > 0 && limiters.every((one) => one.id.startsWith('rate-limit/')));
});

test('a key is revoked while nothing else runs', () => {
  assert.deepEqual(
    names(alone),
    ['revocation', 'revocation-spares'].flatMap((name) => [
      `auth/user-status/${name}`,
      `auth/deposit-check/${name}`,
    ]),
  );
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
