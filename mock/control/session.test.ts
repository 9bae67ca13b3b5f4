import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { faults } from '../deviations/faults.ts';
import { ids, START, testSession } from '../testing/session.ts';
import { MAX_WORLDS, resetAll, resetWorld, keepSandbox, peekSandbox } from './session.ts';

describe('a key with a world name', () => {
  test('opens a separate world, the same for each key: deposits, clock, limiters, journal', () => {
    const { world, user, deposit, entries } = testSession();
    for (let count = 0; count < 60; count++) user(ids.nobody, 'northwind-key~one');
    assert.equal(user(ids.member, 'northwind-key~one').status, 429);
    assert.equal(user(ids.member, 'northwind-key~two').status, 200);
    assert.equal(user(ids.member).status, 200);
    world('one').setClock({ advance: '60s' });
    const keys = ['northwind-key~one', 'northwind-spare-key~one', 'northwind-key~two', 'northwind-key'];
    const statuses = keys.map((key) => deposit(ids.afterSeconds, key).status);
    assert.deepEqual(statuses, [200, 200, 404, 404]);
    const counts = ['one', 'two', ''].map((name) => entries(name).length);
    assert.deepEqual(counts, [63, 2, 2]);
  });
  test('has the same rights as without the name', () => {
    const { user } = testSession();
    for (const [key, status] of Object.entries({
      'northwind-revoked-key~a': 401,
      'jane-personal-key~a': 401,
      'nope~a': 401,
      '~a': 401,
      [`northwind-key~${'a'.repeat(100)}`]: 200,
      'northwind-key~b/c': 200,
      'northwind-key~~a': 401,
      'northwind-key~a test [1, "two"]': 200,
    }))
      assert.equal(user(ids.member, key).status, status, key);
  });
  for (const [name, why] of Object.entries({
    '': /is missing$/,
    ['a'.repeat(101)]: /has 101 characters; the maximum is 100$/,
    'caf\u00e9': /must be visible ASCII/,
    'a ': /must be visible ASCII/,
  }))
    test(`gives the reason for an invalid name: ${JSON.stringify(name).slice(0, 20)}`, () => {
      const { user, entries, session } = testSession();
      const { status, headers } = user(ids.member, `northwind-key~${name}`);
      const [, said = ''] = /^Bearer error="invalid_token", error_description="(.*)"$/.exec(
        headers['WWW-Authenticate'] ?? '',
      )!;
      assert.deepEqual([status, entries()[0]?.reason, session.sandboxes.size], [401, `401: ${said}`, 0]);
      assert.match(said, why);
    });
  test('opens no world if the fixture has exactly this key', () => {
    const key = (name: string) => ({ key: name, partner: 'p', state: 'active' as const });
    const fixture = { apiKeys: [key('a'), key('a~b')] };
    const { session, user } = testSession({ fixture });
    assert.equal(user(ids.member, 'a~b').status, 200);
    assert.equal(session.sandboxes.size, 0);
    assert.equal(user(ids.member, 'a~b~c').status, 200);
    assert.deepEqual([...session.sandboxes.keys()], ['c']);
  });
  test('is main for the main world', () => {
    const { user, world, entries } = testSession();
    user(ids.member, 'northwind-key~main');
    assert.deepEqual(world('main').requests(), entries());
    assert.deepEqual([entries().length, world('main').data().worlds], [1, []]);
  });
  test('belongs to its world also if the key is unknown', () => {
    const { user, entries } = testSession();
    user(ids.member, 'nope~a');
    assert.deepEqual(entries(), []);
    assert.deepEqual(
      entries('a').map(({ reason, requestHeaders }) => [reason, requestHeaders['authorization']]),
      [['401: no such key', 'Bearer <credential>']],
    );
  });
});

test('a key is redacted for ever, and is no name of a world', () => {
  const { setKey, setData, reset, world, user, get, entries } = testSession();
  setKey('mine', { key: 'added-key-4711', partner: 'northwind' });
  setData({ apiKeys: [{ key: 'another-key-0815', partner: 'p', state: 'active' }] });
  reset();
  get('/?a=added-key-4711&b=another-key-0815&c=northwind-spare-key');
  assert.match(entries()[0]!.target, /^\/\?a=<key mine>&b=<key p\/active>&c=<key northwind\/active\/2>$/);
  assert.throws(() => world('northwind-key'), { message: /^world must not contain a key/ });
  assert.equal(user(ids.member, 'app~northwind-key').status, 401);
  assert.deepEqual(entries('northwind-key'), []);
});

test('the name of a world is a text', () => {
  const { world } = testSession();
  for (const name of [5, null, {}, 'a~b', ' a'])
    assert.throws(() => world(name as string), { name: 'Refusal', status: 400, message: /^world / });
  assert.notEqual(world().name, world().name);
});

test('the same request gets the same bytes in every world', () => {
  const { user, deposit } = testSession();
  for (const id of [ids.member, ids.nobody, 'x'])
    assert.deepEqual(user(id, 'northwind-key~a'), user(id, 'northwind-key'));
  for (const id of [ids.executed, ids.pending, ids.nobody, 'x'])
    assert.deepEqual(deposit(id, 'northwind-key~a'), deposit(id, 'northwind-key'));
});

test('beyond the maximum of worlds, a new one is refused until a reset', () => {
  const { session, user, world } = testSession();
  for (let count = 0; count < MAX_WORLDS; count++) keepSandbox(session, peekSandbox(session, `w${count}`));
  const full = /there are 10000 worlds already; a reset of the mock removes them/;
  const { status, headers } = user(ids.member, 'northwind-key~one-more');
  assert.equal(status, 401);
  assert.match(String(headers['WWW-Authenticate']), full);
  assert.throws(() => world('one-more').setKey('northwind-key', { state: 'revoked' }), {
    status: 409,
    message: full,
  });
  // A mistyped name is only read.
  assert.deepEqual(world('one-more').requests(), []);
  assert.equal(user(ids.member, 'northwind-key~w0').status, 200);
  resetWorld(session, 'w1');
  assert.equal(user(ids.member, 'northwind-key~one-more').status, 200);
  assert.equal(user(ids.member, 'northwind-key~w1').status, 401);
  resetAll(session);
  assert.equal(user(ids.member, 'northwind-key~w1').status, 200);
});

test('all worlds of a frozen mock have the same time, also after a reset', () => {
  const { session, setClock, passTime, user } = testSession({ clock: 'frozen' });
  const date = (key?: string) => user(ids.member, key).headers['Date'];
  passTime(10_000);
  const at = new Date(START).toUTCString();
  assert.deepEqual([date(), date('northwind-key~late')], [at, at]);
  setClock({ rate: 1 });
  resetAll(session);
  passTime(10_000);
  assert.equal(date(), at);
});

test('deviations keep their state per world', () => {
  const [id, { change }] = Object.entries(faults).find(([name]) => name.startsWith('revocation-unnoticed'))!;
  const { session } = testSession({ deviation: { id, change } });
  const services = ['', 'a', 'b'].map((name) => peekSandbox(session, name).service);
  assert.equal(new Set(services).size, 3);
});
