import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { reference, type Behaviour } from './behaviour.ts';
import { faultEntries, faults } from './faults.ts';
import { createService } from './handler.ts';
import { applyProviderState } from './provider-state.ts';
import { builtIn, sendAll, START, deposit, ids, lookup, user, type TimedRequest } from './testing/session.ts';
import { variants } from './variants.ts';
import { createWorld } from './world.ts';

const times = (count: number, one: TimedRequest) => Array.from({ length: count }, () => one);

test('fault ids are unique', () => {
  assert.equal(Object.keys(faults).length, faultEntries.length);
});

test('ids are in kebab case and descriptions are one sentence', () => {
  for (const [id, { what }] of [...faultEntries, ...Object.entries(variants)]) {
    assert.match(id, /^[a-z0-9]+(-[a-z0-9]+)*$/);
    assert.match(what, /^\S.*\.$/, id);
  }
});

test('faults keep their state per server', () => {
  const lookups = [...times(3, user(ids.member)), ...times(3, deposit(ids.executed))];
  for (const [id, { change }] of faultEntries) {
    const first = sendAll(lookups, change(reference));
    assert.deepEqual(sendAll(lookups, change(reference)), first, id);
  }
});

const USER = '/api/ib/user-status?user_id=';

/** Requests that show every variant. */
const openProbes: readonly TimedRequest[] = [
  user(ids.member),
  user('1e500000-0000-4000-8000-000000000001'),
  deposit(ids.executed),
  ...['HEAD', 'POST', 'OPTIONS'].map((method) => user(ids.member, { method })),
  lookup('/api/ib/user-status/'),
  lookup(`/API/IB/user-status?user_id=${ids.member}`),
  lookup('/', { key: null }),
  ...[
    '//api/ib/user-status',
    '/x/../api/ib/user-status',
    '/x/..;/api/ib/user-status',
    '/x/%2e%2e/api/ib/user-status',
    '/api/ib\\user-status',
    '/api%2Fib/user-status',
    '/api/ib/%75ser-status',
    '/api/ib/user-status;x=1',
    '/api/ib/user-status.json',
    '/api/ib/user-status%20',
  ].map((path) => lookup(`${path}?user_id=${ids.member}`)),
  lookup(`${USER}${ids.member}&user_id=${ids.foreignUser}`),
  lookup(`${USER}${ids.member}&page=1`),
  lookup(`/api/ib/user-status?USER_ID=${ids.member}`),
  deposit('00000000-0000-0000-0000-000000000000'),
  user(ids.member, { authorization: 'bearer northwind-key' }),
  user('x', { key: null }),
  ...times(61, user('x')),
  user(ids.nobody),
  user('x'),
  user('x', { alongside: 9 }),
  lookup('/other'),
  user(ids.nobody, { key: 'northwind-spare-key' }),
  user(ids.nobody, { key: 'contoso-key' }),
  ...times(61, user(ids.nobody, { key: 'contoso-key', atMs: 1000 })),
  ...times(2, user(ids.nobody, { key: 'contoso-key', atMs: 3500 })),
  ...times(61, user(ids.nobody, { key: 'nope', atMs: 10_000 })),
  // This key expires after 30 s, before the window ends.
  ...times(60, user(ids.nobody, { key: 'fabrikam-expiring-key', atMs: 29_000 })),
  user(ids.nobody, { key: 'fabrikam-expiring-key', atMs: 30_500 }),
  ...times(61, user(ids.nobody, { key: 'contoso-key', atMs: 50_000 })),
  user(ids.nobody, { key: 'contoso-key', atMs: 51_100 }),
  user(ids.member, { headers: { 'accept-encoding': 'br, gzip' } }),
  user(ids.member, { headers: { accept: 'text/html' } }),
];

/** Answers while a deposit becomes EXECUTED, and after that was undone; times in ms. */
function answersToChange(behaviour: Behaviour) {
  const service = createService(behaviour);
  const world = createWorld(builtIn, START);
  const params = { reference_id: ids.pending, amountInUsd: 1, executedAt: START };
  const act = (action: string) => applyProviderState(world, { state: 'deposit executed', params, action });
  const ask = (...moments: readonly number[]) =>
    moments.map((ms) => service.answer(world, deposit(ids.pending).request, START + ms).response);
  const before = ask(0);
  act('setup');
  const after = ask(0, 1, 1500, 3500);
  act('teardown');
  return [...before, ...after, ...ask(3500)];
}

test('every variant differs from the reference', () => {
  const shown = (behaviour: Behaviour) => [sendAll(openProbes, behaviour), answersToChange(behaviour)];
  const expected = shown(reference);
  for (const [id, { change }] of Object.entries(variants))
    assert.ok(!isDeepStrictEqual(shown(change(reference)), expected), id);
});

test('every variant writes any amount as JSON', () => {
  const payload = { status: 'EXECUTED', amountInUsd: 1.5e21, executedAt: 1e-7 };
  for (const [id, { change }] of Object.entries(variants))
    assert.deepEqual(JSON.parse(change(reference).serialize(payload)), payload, id);
});
