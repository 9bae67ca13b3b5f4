import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handlerOf } from './handler.ts';
import { changeState } from './provider-state.ts';
import { builtIn, START } from './testing/probes.ts';
import { createWorld } from './world.ts';

const MEMBER = '11111111-1111-4111-8111-111111111111';
const ask = (authorization: string) => ({
  method: 'GET',
  target: `/api/ib/user-status?user_id=${MEMBER}`,
  headers: { authorization },
});

test('a world keeps no trace of another', () => {
  changeState(createWorld(builtIn, START), { state: 'key revoked', params: { key: 'northwind-key' } });
  assert.equal(handlerOf()(createWorld(builtIn, START), ask('Bearer northwind-key'), START).status, 200);
});

test('an empty fixture knows no key', () => {
  assert.equal(handlerOf()(createWorld({}, START), ask('Bearer northwind-key'), START).status, 401);
});

test('without limits nothing is ever limited', () => {
  const { limits: _, ...unlimited } = builtIn;
  const world = createWorld(unlimited, START);
  const handle = handlerOf();
  const one = { ...ask('Bearer northwind-key'), target: '/api/ib/deposit-check?reference_id=x' };
  const statuses = Array.from({ length: 2000 }, () => handle(world, one, START).status);
  assert.deepEqual([...new Set(statuses)], [400]);
});
