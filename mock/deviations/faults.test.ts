import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
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
  userPath,
  depositPath,
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
    const made = deviationsOf({ 'user-status-400-of-deposit-check': change, 'a-b: Says: more': change });
    const whats = Object.entries(made).map(([id, { what }]) => [id, what]);
    assert.deepEqual(whats, [
      ['user-status-400-of-deposit-check', 'User-status 400 of deposit-check.'],
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

/** A lookup of a member, and one of an EXECUTED deposit. */
const onBoth = (details: Parameters<typeof user>[1]) => [
  user(ids.member, details),
  deposit(ids.executed, details),
];
const targetsOf = (...ends: readonly string[]) =>
  ends.flatMap((end) => [userPath(ids.member) + end, depositPath(ids.executed) + end]);
/** An id with letters of both cases. */
const mixed = (id: string) => id.replace(/[a-f]/, (letter) => letter.toUpperCase());
/** An id that differs in its last digit only. */
const near = (id: string) => id.slice(0, -1) + (id.endsWith('0') ? '1' : '0');

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

/** Requests that show deviations of limiters, forms and methods. */
const openProbes: readonly TimedRequest[] = [
  user(ids.member),
  user('1e500000-0000-4000-8000-000000000001'),
  deposit(ids.executed),
  ...['HEAD', 'POST', 'OPTIONS'].map((method) => user(ids.member, { method })),
  lookup('/api/ib/user-status/'),
  lookup(`/API/IB/user-status?user_id=${ids.member}`),
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

/** Each user and deposit of the fixture, also in upper case, and forms of requests, without limits. */
const plainProbes: readonly TimedRequest[] = [
  ...builtIn.users!.flatMap(({ user_id }) =>
    [user_id, user_id.toUpperCase(), mixed(user_id), near(user_id)].map((id) => user(id)),
  ),
  ...builtIn.deposits!.flatMap(({ reference_id }) =>
    [reference_id, reference_id.toUpperCase(), near(reference_id)].map((id) => deposit(id)),
  ),
  ...builtIn.deposits!.map(({ reference_id }) => deposit(reference_id, { key: 'contoso-key' })),
  ...builtIn.users!.map(({ user_id }) => user(user_id, { key: 'contoso-key' })),
  ...builtIn.apiKeys!.flatMap(({ key }) => onBoth({ key })),
  ...builtIn.apiKeys!.flatMap(({ key }) => onBoth({ authorization: `bearer ${key}` })),
  ...['bearer nope', 'Bearer ', 'Bearer northwind', 'Bearer NORTHWIND-KEY', 'Bearer "northwind-key"'].flatMap(
    (authorization) => onBoth({ authorization }),
  ),
  ...['Basic northwind-key', 'Bearer northwind-key x', ''].flatMap((authorization) =>
    onBoth({ authorization }),
  ),
  ...onBoth({ key: null, headers: { cookie: 'key=northwind-key' } }),
  ...onBoth({ key: null, headers: { 'x-api-key': 'northwind-key' } }),
  ...onBoth({ headers: { cookie: 'partner_id=contoso' } }),
  deposit(ids.nobody, { headers: { 'accept-language': 'de' } }),
  ...onBoth({ headers: { 'cache-control': 'no-cache' } }),
  ...onBoth({ headers: { 'accept-encoding': 'gzip' } }),
  ...onBoth({ key: null, headers: { 'accept-encoding': 'gzip' } }),
  ...onBoth({ key: null, headers: { 'x-forwarded-for': '10.1.2.3' } }),
  ...onBoth({ headers: { 'content-type': 'application/json' } }),
  ...onBoth({ headers: { origin: 'https://partner.example' } }),
  user('x', { headers: { 'accept-language': 'es' } }),
  user(ids.member, { headers: { 'user-agent': 'Mozilla/5.0' } }),
  ...targetsOf(';x=1').map((target) => lookup(target)),
  user(ids.foreignUser, { headers: { 'x-forwarded-host': 'localhost' } }),
  ...onBoth({ rawHeaders: ['AUTHORIZATION', 'Bearer northwind-key'] }),
  ...['HEAD', 'POST', 'PUT', 'PATCH', 'OPTIONS'].flatMap((method) => onBoth({ method, key: null })),
  ...['Token northwind-key', 'northwind-key'].flatMap((authorization) => onBoth({ authorization })),
  ...onBoth({ alongside: 25 }),
  ...times(4, user(ids.member, { alongside: 9 })),
  ...targetsOf('&key=northwind-key', '&partner_id=contoso', '&x=%').flatMap((target) => [
    lookup(target),
    lookup(target, { key: null }),
  ]),
  ...['%32', '%zz', '\0', '\n', ' ', 'x'.repeat(4001)].flatMap((end) =>
    targetsOf(end).map((one) => lookup(one)),
  ),
  ...targetsOf('').flatMap((target) => [
    lookup(`http://ib.example${target}`, { key: null }),
    lookup(`http://ib.example${target}`, { key: 'nope' }),
    lookup('/', { key: null, headers: { 'x-original-url': target } }),
    lookup(target.replace(/_id=.*/, '_id=')),
    lookup(target.replace(/\?.*/, '')),
    lookup(target.replace('_id=', '_id[]=')),
    lookup(target.replace(/(?<=_id=.{14})./, '7')),
    lookup(target.replace(/(?<=_id=)./, '%3$&')),
    lookup(target.replace(/_id=(.{8})-/, '_id=$1.')),
    lookup(target.replace(/_id=./, '_id=g')),
    lookup(target.replace(/_id=./, '_id=%2B')),
    lookup(target.replace(/.$/, 'g')),
    lookup(target.slice(0, -1)),
    lookup(target.replace(/(?<=_id=.{19})./, '7')),
    lookup(target.replace(/(?<=_id=.*)-/g, '')),
    lookup(`${target}&reference_id=${ids.foreign}`),
    lookup(target.replace(/_id=(.*)/, '_id={$1}')),
    lookup(target.replace('_id=', '_id=urn:uuid:')),
    ...pathForms.map((path) => lookup(target.replace(/^[^?]*/, path), { key: null })),
  ]),
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

/** Answers requests, each in a world of its own, when the key with an end has expired. */
const answersOf = (behaviour: Behaviour, probes = plainProbes, fixture = builtIn) => {
  const { answer } = createService(behaviour);
  return probes.map(({ request }) => {
    const world = createWorld(fixture, START);
    const { response } = answer(world, request, START + 60_000);
    return { response, countedAs: Object.values(world.hits).flatMap((hits) => [...hits.keys()]) };
  });
};

describe('every deviation differs from the reference, and brings no other one along', () => {
  const othersOf = (behaviour: Behaviour) => [sendAll(openProbes, behaviour), answersToChanges(behaviour)];
  const [expected, others] = [answersOf(reference), othersOf(reference)];
  const keys = new Set(builtIn.apiKeys!.map(({ key }) => key));
  for (const [id, { change }] of all)
    test(id, () => {
      const found = answersOf(change(reference));
      const isOther = found.some(
        ({ response }, nth) => !isDeepStrictEqual(response, expected[nth]!.response),
      );
      assert.ok(isOther || !isDeepStrictEqual(othersOf(change(reference)), others));
      for (const [nth, { response, countedAs }] of found.entries()) {
        const { request } = plainProbes[nth]!;
        const [now, before] = [response.status, expected[nth]!.response.status];
        const isLimit = before === 429 ? /429|limit/.test(id) || [401, 429].includes(now) : now !== 429;
        assert.ok(isLimit, `${now} instead of ${before} for ${JSON.stringify(request)}`);
        const used = countedAs.filter(
          (name) => keys.has(name) && !request.headers.authorization?.endsWith(name),
        );
        assert.deepEqual(used, [], JSON.stringify(request));
      }
    });
});

test('a leak shows the data of every partner, whatever keys they have', () => {
  const owners = new Map(builtIn.users!.map(({ user_id, partner }) => [user_id, partner]));
  const users = builtIn.users!.flatMap((one) => (one.partner === null ? [] : [user(one.user_id)]));
  const isShown = ({ state, user_id }: Deposit) => state === 'EXECUTED' && owners.get(user_id) !== null;
  const deposits = builtIn.deposits!.filter(isShown).map((one) => deposit(one.reference_id));
  for (const [id, probes, shown] of [
    ['foreign-user-is-member', users, /"is_under_ib":true/],
    ['foreign-deposit-visible', deposits, /"EXECUTED"/],
  ] as const)
    for (const { response } of answersOf(faults[id]!.change(reference), probes))
      assert.match(response.body, shown);
});

test('the first partner is that of the first key that lasts', () => {
  const hasLimits = builtIn.apiKeys!.filter(({ limits }) => limits !== undefined);
  const limitedFirst = { ...builtIn, apiKeys: [...new Set([...hasLimits, ...builtIn.apiKeys!])] };
  for (const id of ['last-member-denied', 'first-partner-for-users', 'another-partner-refused']) {
    const [one, other] = [builtIn, limitedFirst].map((fixture) =>
      answersOf(faults[id]!.change(reference), plainProbes, fixture),
    );
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
