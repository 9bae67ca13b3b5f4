import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createService, reference, type Behaviour } from '../server/handler.ts';
import { deviationsOf, fields, on } from './deviate.ts';
import { faults } from './faults.ts';
import { applyState } from '../control/entities.ts';
import {
  builtIn,
  sendAll,
  START,
  deposit,
  ids,
  lookup,
  user,
  type TimedRequest,
} from '../testing/session.ts';
import { variants } from './variants.ts';
import { createWorld, type Deposit } from '../server/world.ts';

const all = [...Object.entries(faults), ...Object.entries(variants)];

const times = (count: number, one: TimedRequest) => Array.from({ length: count }, () => one);

describe('ids and sentences', () => {
  test('ids are in kebab case and unique, and a description is one sentence', () => {
    assert.equal(new Set(all.map(([id]) => id)).size, all.length);
    for (const [id, { what }] of all) {
      assert.match(id, /^[a-z0-9]+(-[a-z0-9]+)*$/);
      // A field such as date_joined keeps its letter case.
      assert.match(what, /^(?:[A-Z0-9]|[a-z]+[A-Z_]).*[^.]\.$/, id);
    }
  });
  test('the sentence follows the id, or is made of it', () => {
    const change = on('member', fields({ x: 1 }));
    const made = deviationsOf({
      'user-status-400-of-deposit-check': change,
      'pending-with-200': change,
      'key-in-cookie': change,
      'a-b: Says: more': change,
    });
    const whats = Object.entries(made).map(([id, { what }]) => [id, what]);
    assert.deepEqual(whats, [
      ['user-status-400-of-deposit-check', 'A 400 of user-status has the message of deposit-check.'],
      ['pending-with-200', 'A pending deposit is answered with 200.'],
      ['key-in-cookie', 'Key in cookie.'],
      ['a-b', 'Says: more.'],
    ]);
    assert.throws(() => deviationsOf({ 'a: x': change }, { 'a: y': change }), /two deviations have the id a/);
  });
});

test('each server has its own memory', () => {
  const lookups = [...times(3, user(ids.member)), ...times(3, deposit(ids.executed))];
  for (const [id, { change }] of all) {
    const behaviour = change(reference);
    const first = sendAll(lookups, behaviour);
    assert.deepEqual(sendAll(lookups, change(reference)), first, id);
    assert.deepEqual(sendAll(lookups, behaviour), first, id);
  }
});

const USER = '/api/ib/user-status?user_id=';

const pathForms = [
  '/api/ib/user-status/',
  '/API/IB/user-status',
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
];

/** Requests that show variants of limiters, forms and methods, in this order. */
const probes: readonly TimedRequest[] = [
  user(ids.member),
  user(ids.member, { headers: { origin: 'https://partner.example' } }),
  user('1e500000-0000-4000-8000-000000000001'),
  deposit(ids.executed),
  ...['HEAD', 'POST', 'OPTIONS'].map((method) => user(ids.member, { method })),
  lookup('/', { key: null }),
  ...pathForms.map((path) => lookup(`${path}?user_id=${ids.member}`)),
  lookup(`${USER}${ids.member}&user_id=${ids.foreignUser}`),
  lookup(`${USER}${ids.member}&page=1`),
  deposit('00000000-0000-0000-0000-000000000000'),
  user(ids.member, { authorization: 'bearer northwind-key' }),
  user('x', { key: null }),
  ...times(61, user('x')),
  user(ids.nobody),
  user('x'),
  user('A'),
  user('x', { authorization: 'bearer northwind-key' }),
  lookup(`${USER}x&page=1`),
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
  ...times(253, deposit(ids.executed, { atMs: 60_000 })),
  ...times(4, deposit(ids.nobody, { atMs: 64_000 })),
  ...times(4, deposit(ids.afterPolls, { atMs: 64_000 })),
  ...times(61, user(ids.foreignUser, { atMs: 70_000 })),
  ...[59, 1, 59].flatMap((count, nth) =>
    times(count, user(nth === 1 ? ids.member : ids.nobody, { atMs: 80_000 })),
  ),
];

/** Answers while a deposit becomes EXECUTED and a key is revoked, and after that was undone; times in ms. */
function answersToChanges(behaviour: Behaviour) {
  const service = createService(behaviour);
  const world = createWorld(builtIn, START);
  const params = { reference_id: ids.pending, amountInUsd: 1, executedAt: START };
  const act = (action: 'setup' | 'teardown') => {
    applyState(world, { state: 'deposit executed', params, action });
    applyState(world, { state: 'key revoked', params: { key: 'northwind-spare-key' }, action });
  };
  const requests = [
    ...[undefined, 'contoso-key', null].map((key) => deposit(ids.pending, { key })),
    ...[ids.member, ids.nobody].map((id) => user(id, { key: 'northwind-spare-key' })),
    deposit(ids.executed, { key: 'northwind-spare-key' }),
    user(ids.member),
  ];
  const ask = (...moments: readonly number[]) =>
    moments.flatMap((ms) => requests.map((one) => service.answer(world, one.request, START + ms).response));
  const before = ask(0);
  act('setup');
  const after = ask(0, 1, 1500, 3500);
  act('teardown');
  return [...before, ...after, ...ask(3500)];
}

// The self-test shows it of each fault.
describe('every variant differs from the reference', () => {
  const answersOf = (behaviour: Behaviour) => [sendAll(probes, behaviour), answersToChanges(behaviour)];
  const expected = answersOf(reference);
  for (const [id, { change }] of Object.entries(variants))
    test(id, () => assert.notDeepEqual(answersOf(change(reference)), expected));
});

/** Every user and deposit with the keys of two partners, and both endpoints with every key. */
const plainProbes: readonly TimedRequest[] = [
  ...['northwind-key', 'contoso-key'].flatMap((key) => [
    ...builtIn.users!.map(({ user_id }) => user(user_id, { key })),
    ...builtIn.deposits!.map(({ reference_id }) => deposit(reference_id, { key })),
  ]),
  ...builtIn.apiKeys!.flatMap(({ key }) => [user(ids.member, { key }), deposit(ids.executed, { key })]),
];

/** Answers each in a world of its own, when the key with an end has expired, and the keys that it was counted for. */
const answersAlone = (behaviour: Behaviour) => {
  const { answer } = createService(behaviour);
  return plainProbes.map(({ request }) => {
    const world = createWorld(builtIn, START);
    const { status } = answer(world, request, START + 60_000).response;
    return { status, countedAs: Object.values(world.hits).flatMap((hits) => [...hits.keys()]) };
  });
};

describe('no deviation brings another one along', () => {
  const expected = answersAlone(reference);
  const keys = new Set(builtIn.apiKeys!.map(({ key }) => key));
  for (const [id, { change }] of all)
    test(id, () => {
      for (const [nth, { status: now, countedAs }] of answersAlone(change(reference)).entries()) {
        const { request } = plainProbes[nth]!;
        const { status: before } = expected[nth]!;
        const isLimit = before === 429 ? /429|limit/.test(id) || [401, 429].includes(now) : now !== 429;
        assert.ok(isLimit, `${now} instead of ${before} for ${JSON.stringify(request)}`);
        const isOther = (name: string) => keys.has(name) && !request.headers.authorization?.endsWith(name);
        assert.deepEqual(countedAs.filter(isOther), [], JSON.stringify(request));
      }
    });
});

/** Answers lookups of a server with a fault, and with a fixture. */
const answersWith = (id: string, lookups: readonly TimedRequest[], fixture = builtIn) => {
  const { answer } = createService(faults[id]!.change(reference));
  const world = createWorld({ ...fixture, limits: {} }, START);
  return lookups.map(({ request }) => answer(world, request, START + 60_000).response);
};

test('a leak shows the data of every partner, whatever keys they have', () => {
  const owners = new Map(builtIn.users!.map(({ user_id, partner }) => [user_id, partner]));
  const users = builtIn.users!.flatMap((one) => (one.partner === null ? [] : [user(one.user_id)]));
  const isShown = ({ state, user_id }: Deposit) => state === 'EXECUTED' && owners.get(user_id) !== null;
  const deposits = builtIn.deposits!.filter(isShown).map((one) => deposit(one.reference_id));
  for (const [id, lookups, shown] of [
    ['foreign-user-is-member', users, /"is_under_ib":true/],
    ['foreign-deposit-visible', deposits, /"EXECUTED"/],
  ] as const)
    for (const { body } of answersWith(id, lookups)) assert.match(body, shown);
});

test('the first partner is that of the first key that lasts', () => {
  const hasLimits = builtIn.apiKeys!.filter(({ limits }) => limits !== undefined);
  const limitedFirst = { ...builtIn, apiKeys: [...new Set([...hasLimits, ...builtIn.apiKeys!])] };
  const lookups = ['northwind-key', 'contoso-key'].flatMap((key) =>
    builtIn.users!.map(({ user_id }) => user(user_id, { key })),
  );
  for (const id of ['last-member-denied', 'first-partner-for-users', 'another-partner-refused']) {
    const [one, other] = [builtIn, limitedFirst].map((fixture) => answersWith(id, lookups, fixture));
    assert.deepEqual(other, one, id);
  }
});

test('every variant writes any amount as JSON', () => {
  const payload = { status: 'EXECUTED', amountInUsd: 1.5e21, executedAt: 1e-7 } as const;
  const { status: state, ...execution } = payload;
  const [first] = builtIn.deposits!;
  const world = createWorld({ ...builtIn, deposits: [{ ...first!, state, ...execution }] }, START);
  for (const [id, { change }] of Object.entries(variants)) {
    const { request } = deposit(first!.reference_id);
    const { response } = createService(change(reference)).answer(world, request, START);
    assert.deepEqual(JSON.parse(response.body), payload, id);
  }
});
