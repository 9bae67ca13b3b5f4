import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, test, type TestContext } from 'node:test';
import { handlerOf } from './handler.ts';
import { lookIn, createWorld, type World } from './world.ts';
import { changeState } from './provider-state.ts';
import { builtIn, START } from './testing/probes.ts';
import { startMock, type AnsweredRequest, type Mock, type MockOptions } from './server.ts';

const PATH = '/__admin/state';
const MEMBER = '11111111-1111-4111-8111-111111111111';
const LETTERS = 'dddddddd-dddd-4ddd-8ddd-dddddddddddd';
const PENDING = '55555555-5555-4555-8555-555555555555';
const FAILED = '66666666-6666-4666-8666-666666666666';
const BECOMING = '77777777-7777-4777-8777-777777777777';
const FOREIGN = '99999999-9999-4999-8999-999999999999';
const FOUND = '{"status":"EXECUTED","amountInUsd":123.45,"executedAt":1767225599123}';
const execution = { amountInUsd: 123.45, executedAt: 1_767_225_599_123 };

const newWorld = () => createWorld(builtIn, START);

/** What has happened in a world; what its fixture says never changes. */
const contents = ({ asFixture: _, keys, users, deposits, ...rest }: World) => ({
  ...rest,
  changed: [keys.changed, users.changed, deposits.changed],
});
const handle = handlerOf();
const lookup = (world: World, target: string, key: string) =>
  handle(world, { method: 'GET', target, headers: { authorization: `Bearer ${key}` } }, START);
const user = (world: World, key = 'northwind-key') =>
  lookup(world, `/api/ib/user-status?user_id=${MEMBER}`, key).status;
const deposit = (world: World, id: string, key = 'northwind-key') =>
  lookup(world, `/api/ib/deposit-check?reference_id=${id}`, key);

const revoked = (key: unknown, action?: unknown) => ({
  state: 'key revoked',
  params: { key },
  ...(action === undefined ? {} : { action }),
});
const executed = (reference_id: unknown, action?: unknown, details: object = execution) => ({
  state: 'deposit executed',
  params: { reference_id, ...details },
  ...(action === undefined ? {} : { action }),
});

/** Brings about what has to work. */
function bring(world: World, ...bodies: readonly unknown[]): void {
  for (const body of bodies) assert.equal(changeState(world, body), undefined);
}

describe('key revoked', () => {
  test('ends that key on both endpoints, and no other', () => {
    const world = newWorld();
    assert.equal(user(world), 200);
    bring(world, revoked('northwind-key', 'setup'));
    assert.equal(user(world), 401);
    assert.equal(deposit(world, LETTERS).status, 401);
    assert.equal(user(world, 'northwind-spare-key'), 200);
  });
  test('is taken back by its teardown, also twice', () => {
    const world = newWorld();
    bring(world, revoked('northwind-key', 'setup'), revoked('northwind-key', 'teardown'));
    assert.equal(user(world), 200);
    bring(world, revoked('northwind-key', 'teardown'));
    assert.equal(user(world), 200);
  });
  test('leaves a key as the fixture has it: teardown lets nobody in', () => {
    const world = newWorld();
    for (const key of ['northwind-revoked-key', 'northwind-expired-key', 'jane-personal-key']) {
      bring(world, revoked(key, 'setup'), revoked(key, 'teardown'));
      assert.deepEqual(lookIn(world.keys, key), world.asFixture.keys.get(key));
      assert.equal(user(world, key), 401);
    }
  });
  test('is set up where no action is given', () => {
    const world = newWorld();
    bring(world, revoked('northwind-key'));
    assert.equal(user(world), 401);
  });
});

describe('deposit executed', () => {
  for (const [name, id] of Object.entries({ pending: PENDING, failed: FAILED, becoming: BECOMING }))
    test(`shows a ${name} deposit with its amount and time, and hides it again`, () => {
      const world = newWorld();
      assert.equal(deposit(world, id).status, 404);
      bring(world, executed(id, 'setup'));
      assert.equal(deposit(world, id).body, FOUND);
      bring(world, executed(id, 'teardown'));
      assert.equal(deposit(world, id).status, 404);
      assert.deepEqual(lookIn(world.deposits, id), world.asFixture.deposits.get(id));
    });
  test('takes the id in any letter case', () => {
    const world = newWorld();
    bring(world, executed(LETTERS.toUpperCase(), 'setup'));
    assert.equal(deposit(world, LETTERS).body, FOUND);
  });
  test('keeps the deposit with its partner', () => {
    const world = newWorld();
    bring(world, executed(FOREIGN, 'setup'));
    assert.equal(deposit(world, FOREIGN).status, 404);
    assert.equal(deposit(world, FOREIGN, 'contoso-key').body, FOUND);
  });
  test('needs no amount and time to be taken back', () => {
    const world = newWorld();
    bring(world, executed(PENDING, 'setup'), executed(PENDING, 'teardown', {}));
    assert.equal(deposit(world, PENDING).status, 404);
  });
});

test('a world has its states for itself', () => {
  bring(newWorld(), revoked('northwind-key'), executed(PENDING));
  const world = newWorld();
  assert.equal(user(world), 200);
  assert.equal(deposit(world, PENDING).status, 404);
});

/** Bodies that name no state, or not enough of it, with what is said. */
const badBodies: Readonly<Record<string, readonly [body: unknown, problem: RegExp]>> = {
  null: [null, /^state has to be one of: key revoked, deposit executed$/],
  'a text': ['key revoked', /^state has/],
  'a list': [[revoked('northwind-key')], /^state has/],
  'no state': [{ params: { key: 'northwind-key' } }, /^state has/],
  'a number for a state': [{ ...revoked('northwind-key'), state: 1 }, /^state has/],
  'an unknown state': [{ ...revoked('northwind-key'), state: 'key expired' }, /^state has/],
  'the name of a property': [{ ...revoked('northwind-key'), state: 'constructor' }, /^state has/],
  'an unknown action': [revoked('northwind-key', 'reset'), /^action has to be setup or teardown$/],
  'a property for an action': [revoked('northwind-key', 'toString'), /^action has/],
  'null for an action': [revoked('northwind-key', null), /^action has/],
  'no params': [{ state: 'key revoked' }, /^params need a key/],
  'null for params': [{ state: 'key revoked', params: null }, /^params need a key/],
  'an unknown key': [revoked('nope'), /^params need a key/],
  'a list for a key': [revoked(['northwind-key']), /^params need a key/],
  'no reference_id': [executed(undefined), /^params need the reference_id/],
  'an unknown deposit': [executed(MEMBER), /^params need the reference_id/],
  'no amount': [executed(PENDING, 'setup', { executedAt: 1 }), /^params need the numbers/],
  'a text for an amount': [
    executed(PENDING, 'setup', { ...execution, amountInUsd: '1' }),
    /^params need the numbers/,
  ],
  'no time': [executed(PENDING, 'setup', { amountInUsd: 1 }), /^params need the numbers/],
  'teardown of an unknown key': [revoked('nope', 'teardown'), /^params need a key/],
};

for (const [name, [body, problem]] of Object.entries(badBodies))
  test(`${name} changes nothing and is told`, () => {
    const world = newWorld();
    assert.match(changeState(world, body) ?? '', problem);
    assert.deepEqual(contents(world), contents(newWorld()));
  });

describe('over a socket', () => {
  async function startFor(t: TestContext, options: Partial<MockOptions> = {}): Promise<Mock> {
    const mock = await startMock({ fixture: builtIn, clock: { now: () => START }, ...options });
    t.after(() => mock.close());
    return mock;
  }

  async function send(mock: Mock, method: string, path: string, body = '', host = `127.0.0.1:${mock.port}`) {
    const outgoing = request({
      host: '127.0.0.1',
      port: mock.port,
      method,
      path,
      agent: false,
      headers: {
        host,
        authorization: 'Bearer northwind-key',
        ...(body === '' ? {} : { 'content-type': 'application/json' }),
      },
    }).end(body);
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    return { status: incoming.statusCode, body: await text(incoming) };
  }

  const change = async (mock: Mock, body: unknown) =>
    (await send(mock, 'POST', PATH, JSON.stringify(body))).status;
  const checkPath = `/api/ib/deposit-check?reference_id=${PENDING}`;
  const userPath = `/api/ib/user-status?user_id=${MEMBER}`;

  test('both states come and go', async (t) => {
    const mock = await startFor(t);
    assert.equal(await change(mock, executed(PENDING, 'setup')), 204);
    assert.deepEqual(await send(mock, 'GET', checkPath), { status: 200, body: FOUND });
    assert.equal(await change(mock, executed(PENDING, 'teardown')), 204);
    assert.equal((await send(mock, 'GET', checkPath)).status, 404);
    assert.equal(await change(mock, revoked('northwind-key', 'setup')), 204);
    assert.equal((await send(mock, 'GET', userPath)).status, 401);
    assert.equal(await change(mock, revoked('northwind-key', 'teardown')), 204);
    assert.equal((await send(mock, 'GET', userPath)).status, 200);
  });
  test('a refusal says what is wrong', async (t) => {
    const { status, body } = await send(await startFor(t), 'POST', PATH, '{"state":"x"}');
    assert.deepEqual(
      [status, body],
      [400, '{"error":"state has to be one of: key revoked, deposit executed"}'],
    );
  });
  test('a page that has the name of its own site rebound gets 403', async (t) => {
    const body = JSON.stringify(revoked('northwind-key'));
    assert.equal((await send(await startFor(t), 'POST', PATH, body, 'site.example')).status, 403);
  });
  test('it is at the root, whatever the base path, and is no exchange of the service', async (t) => {
    const seen: AnsweredRequest[] = [];
    const mock = await startFor(t, {
      basePath: '/gateway',
      onExchange: (exchange) => seen.push(exchange),
    });
    assert.equal(await change(mock, revoked('northwind-key')), 204);
    assert.deepEqual(seen, []);
    assert.equal((await send(mock, 'POST', `/gateway${PATH}`, '{}')).status, 404);
  });
  test('it is absent where the mock does not listen on loopback', async (t) => {
    const mock = await startFor(t, { host: '0.0.0.0' });
    const { status, body } = await send(
      mock,
      'POST',
      PATH,
      JSON.stringify(revoked('northwind-key')),
      'localhost',
    );
    assert.deepEqual([status, body], [404, '{"error":"Not found"}']);
    assert.equal((await send(mock, 'GET', userPath)).status, 200);
  });
});
