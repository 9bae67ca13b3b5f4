import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { createMock, Refusal, startMock } from './index.ts';
import { routes } from './admin/routes.ts';
import { createControls, mockOperations, worldOperations, type ControlledMock } from './controls.ts';
import { routesOf } from './controls/operation.ts';
import { testAdmin } from './testing/admin.ts';
import { ids, START, testSession } from './testing/session.ts';

const anything = fc.oneof(
  fc.constantFrom<unknown>(0, 1, 5, -1, 1.5, '5', '', null, true, [], {}, 503, '503', 'slow:2s', 404),
  fc.constantFrom<unknown>('2026-01-01T00:00:00Z', 1e15, 'user-status', 'northwind/active', 'nope'),
  fc.jsonValue({ maxDepth: 1 }),
);
/** Values that a query can express: a text that is no number, or a number. */
const inQuery = fc.constantFrom<unknown>(0, 1, 5, -1, 1.5, 'x', '', 'EXECUTED', 'pending', 'northwind');
const id = fc.constantFrom(ids.pending, ids.executed, ids.failed, ids.afterPolls, 'nope', 'a/b');

type Given = Readonly<Record<string, never>>;

/** Every operation: its call, its parameters and fields, and the JavaScript call with the same input. */
const operations: readonly (readonly [string, string, (to: ControlledMock, given: Given) => unknown])[] = [
  ['GET /clock', '', ({ clock }) => clock.get()],
  ['POST /clock/advance', 'ms', ({ clock }, given) => clock.advance(given['ms']!)],
  ['POST /clock/set', 'now', ({ clock }, given) => clock.set(given['now']!)],
  ['POST /clock/scale', 'rate', ({ clock }, given) => clock.scale(given['rate']!)],
  ['POST /clock/freeze', 'now', ({ clock }, given) => clock.freeze(given['now'])],
  ['GET /deposits', 'state offset limit', ({ deposits }, given) => deposits.list(given)],
  ['GET /deposits/{id}', '', ({ deposits }, given) => deposits.get(given['id']!)],
  ['POST /deposits', 'reference_id user_id state', ({ deposits }, given) => deposits.add(given as never)],
  [
    'POST /deposits/{id}/execute',
    'amountInUsd executedAt',
    ({ deposits }, { id: one, ...given }) => deposits.execute(one!, given),
  ],
  ['POST /deposits/{id}/fail', '', ({ deposits }, given) => deposits.fail(given['id']!)],
  ['GET /users', 'offset limit', ({ users }, given) => users.list(given)],
  ['POST /users', 'user_id partner date_joined', ({ users }, given) => users.add(given as never)],
  ['GET /keys', 'offset limit', ({ keys }, given) => keys.list(given)],
  ['POST /keys', 'key partner state', ({ keys }, given) => keys.add(given as never)],
  ['POST /keys/revoke', 'key', ({ keys }, given) => keys.revoke(given['key']!)],
  ['POST /keys/expire', 'key', ({ keys }, given) => keys.expire(given['key']!)],
  ['GET /limits', '', ({ limits }) => limits.get()],
  ['PUT /limits', 'user-status deposit-check', ({ limits }, given) => limits.set(given)],
  ['GET /faults', '', ({ faults }) => faults.get()],
  ['PUT /faults', 'fault chaos seed', ({ faults }, given) => faults.set(given)],
  [
    'POST /faults/next',
    'kind count endpoint',
    ({ faults }, given) => faults.next(given['kind']!, given['count'], given['endpoint']),
  ],
  ['GET /requests', 'limit since', ({ requests }, given) => requests.list(given)],
  ['POST /requests/find', 'key status endpoint since', ({ requests }, given) => requests(given)],
  ['POST /requests/count', 'key status endpoint since', ({ requests }, given) => requests.count(given)],
  ['DELETE /requests', '', ({ requests }) => requests.clear()],
  ['POST /state', 'state params action', ({ state }, given) => state(given as never)],
  ['POST /reset', '', (mock) => mock.reset()],
  ['GET /worlds', '', (mock) => mock.worlds()],
  ['GET /magic-values', '', (mock) => mock.magicValues()],
  ['GET /fixture', '', (mock) => mock.fixture()],
];

/** Calls over HTTP, and returns what the JavaScript method gives of the result, or the refusal. */
async function overHttp(line: string, fields: string, { id: one, ...given }: Given) {
  const mock = testAdmin();
  mock.user(ids.member);
  const [method = '', path = ''] = line.split(' ');
  const isQuery = method === 'GET' || fields === '';
  const query = isQuery ? `?${new URLSearchParams(given).toString()}` : '';
  const target = path.replace('{id}', encodeURIComponent(one ?? '')) + query;
  const { status, json } = await mock.call(method, target, isQuery ? undefined : given);
  if (status >= 300) return [status, json['error'], json['place'] ?? null] as unknown[];
  const { gives = (result: unknown) => result } = routes.find((route) => route.call === line)!;
  return gives(json);
}

async function inJavaScript(act: (typeof operations)[number][2], given: Given) {
  const mock = testSession();
  mock.user(ids.member);
  try {
    return JSON.parse(JSON.stringify((await act(createControls(mock.session), given)) ?? null)) as unknown;
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error));
    return [error.status, error.message, error.details.place ?? null];
  }
}

describe('HTTP and JavaScript take and refuse the same input, with the same words', () => {
  for (const [line, fields, act] of operations)
    test(line, async () => {
      const names = fields.split(' ').filter((name) => name !== '');
      const values = names.map((name) => [name, line.startsWith('GET') ? inQuery : anything] as const);
      const given = fc.record(Object.fromEntries(values), { requiredKeys: [] });
      const withId = line.includes('{id}') ? fc.tuple(given, id) : fc.tuple(given);
      await fc.assert(
        fc.asyncProperty(withId, async ([rest, one]) => {
          const input = { ...rest, ...(one !== undefined && { id: one }) } as Given;
          assert.deepEqual((await overHttp(line, fields, input)) ?? null, await inJavaScript(act, input));
        }),
        { seed: 7, numRuns: names.length > 0 ? 100 : 10 },
      );
    });
  test('for every operation', () => {
    const all = [worldOperations, mockOperations].flatMap((table) => routesOf(table)).map(({ call }) => call);
    assert.deepEqual(all.toSorted(), operations.map(([line]) => line).toSorted());
  });
});

describe('options', () => {
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ clok: 1 }, /option clok: there is none; did you mean clock\?/],
    [{ clock: 'x' }, /option clock: needs real, frozen, or an object/],
    [{ limits: 'of' }, /option limits: needs on or off/],
    [{ fault: 'nope' }, /option fault nope: there is no such fault/],
    [{ variant: 'nope' }, /option variant nope: there is no such variant/],
    [{ journal: -1 }, /option journal: needs a whole number from 0 to 1000000/],
    [{ fixture: null }, /^Problem: fixture: the fixture must be object/],
    [{ chaos: '500' }, /option chaos: needs a list of strings/],
    [{ port: 'x' }, /option port: needs a whole number from 0 to 65535/],
  ];
  for (const [options, pattern] of wrong)
    test(`refused: ${JSON.stringify(options)}`, async () => {
      await assert.rejects(startMock(options), pattern);
      assert.throws(() => createMock(options), pattern);
    });

  const bodyOf = async (mock: ReturnType<typeof createMock>, target: string, key = 'northwind-key') => {
    const headers = { authorization: `Bearer ${key}` };
    const answer = await mock.handle(new Request(`http://ib${target}`, { headers }));
    return `${answer.status} ${await answer.text()}`;
  };
  const executed = `/api/ib/deposit-check?reference_id=${ids.executed}`;
  test('fault, variant and limits work as on the command line', async () => {
    assert.match(await bodyOf(createMock({ fault: 'amount-in-cents' }), executed), /^200 .*25050/);
    assert.match(await bodyOf(createMock({ variant: 'fields-reversed' }), executed), /^200 \{"executedAt"/);
    const limited = 'fabrikam-always-limited-key';
    assert.match(await bodyOf(createMock(), executed, limited), /^429/);
    assert.match(await bodyOf(createMock({ limits: 'off' }), executed, limited), /^404/);
  });
});

describe('a journal that dropped requests', () => {
  const { requests, user } = testSession({ journal: 10 });
  for (let count = 0; count < 30; count++) user(ids.member);
  test('refuses to count what it no longer has', () => {
    assert.equal(requests.dropped(), 20);
    assert.throws(() => requests.count({ status: 401 }), /keeps 10 requests and dropped 20.*"since": 20/);
    assert.equal(requests.count({ since: 20 }), 10);
    assert.throws(() => requests.count({ since: 19 }), Refusal);
  });
  test('says so in the answers', async () => {
    const mock = testAdmin({ journal: 10 });
    for (let count = 0; count < 30; count++) mock.user(ids.member);
    assert.equal((await mock.callJson('GET', '/requests'))['dropped'], 20);
    assert.equal((await mock.callRefused('POST', '/requests/count', {}))[0], 409);
  });
});

test('a world that was never used is named as such', async () => {
  const mock = testAdmin();
  const count = () => mock.callJson('POST', '/requests/count?world=typo', {});
  assert.deepEqual(await count(), { count: 0, dropped: 0, unused: true });
  mock.user(ids.member, 'northwind-key~typo');
  assert.deepEqual(await count(), { count: 1, dropped: 0 });
});

test('waitForRequest resolves to the request, or rejects in time', async () => {
  const { waitForRequest, user } = testSession();
  const waiting = waitForRequest({ status: 401 });
  user(ids.member);
  user(ids.member, 'nope');
  assert.equal((await waiting).id, 2);
  await assert.rejects(waitForRequest({ status: 429 }, { timeoutMs: 1 }), /no such request came in 1 ms/);
});

test('the clock has one reading, and a stopped clock is frozen', () => {
  let now = START;
  const { clock } = createMock({ clock: { now: () => now++ } });
  const set = clock.set(START + 5000);
  assert.equal(set.iso, new Date(set.now).toISOString());
  assert.equal(clock.freeze().mode, 'frozen');
});

test('a browser that opens the root is led to the page; other callers get 404', async () => {
  const mock = createMock();
  const open = (headers: Record<string, string>) => mock.handle(new Request('http://ib/', { headers }));
  const answer = await open({ 'sec-fetch-dest': 'document' });
  assert.deepEqual([answer.status, answer.headers.get('location')], [302, '/__admin/']);
  assert.equal((await open({})).status, 404);
});
