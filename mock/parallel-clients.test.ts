import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startMock, type Mock } from './index.ts';
import { START } from './testing/probes.ts';
import { depositPath, ids, userPath } from './testing/session.ts';

const WORLDS = Array.from({ length: 32 }, (_, nth) => nth);

/** A test client with nothing but fetch: its key opens its world, and its admin calls name it. */
function clientOf({ url }: Mock, nth: number) {
  const world = `client-${nth}`;
  const ask = async (path: string, key = 'northwind-key') => {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}~${world}` } });
    return { status: answer.status, headers: answer.headers, body: await answer.text() };
  };
  const admin = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${url}/__admin/${path}?world=${world}`, {
      method,
      ...(body !== undefined && {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    });
    assert.equal(answer.status, 200, `${method} ${path}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  return { nth, world, ask, admin };
}

type Client = ReturnType<typeof clientOf>;

/** What a client does and sees, step by step; each step is taken by all before the next one. */
const steps: readonly ((client: Client) => Promise<void>)[] = [
  // Each makes its world another one, in every way that there is.
  async ({ nth, admin }) => {
    await admin('POST', 'clock/set', { now: START + nth * 86_400_000 });
    await admin('POST', `deposits/${ids.pending}/execute`, { amountInUsd: nth, executedAt: START });
    await admin('PUT', 'limits', { 'user-status': { failedLookups: 1 + (nth % 4), windowSeconds: 60 } });
    if (nth % 2 === 0) await admin('POST', 'keys/revoke', { key: 'northwind/active/2' });
    if (nth % 3 === 0) await admin('PUT', 'faults', { fault: 'pending-with-202' });
    await admin('POST', 'faults/next', { kind: `${520 + nth}` });
  },
  // What was queued befalls its own next request, once.
  async ({ nth, ask }) => assert.equal((await ask(userPath(ids.member))).status, 520 + nth),
  async ({ ask }) => assert.equal((await ask(userPath(ids.member))).status, 200),
  async ({ nth, ask }) => {
    const { headers, body } = await ask(depositPath(ids.pending));
    assert.equal(body, `{"status":"EXECUTED","amountInUsd":${nth},"executedAt":${START}}`);
    assert.equal(headers.get('date'), new Date(START + nth * 86_400_000).toUTCString());
  },
  async ({ nth, ask }) =>
    assert.equal((await ask(depositPath(ids.afterPolls))).status, nth % 3 === 0 ? 202 : 404),
  async ({ nth, ask }) =>
    assert.equal((await ask(userPath(ids.member), 'northwind-spare-key')).status, nth % 2 === 0 ? 401 : 200),
  // Its limiter counts its own lookups alone, and only its own clock frees it.
  async ({ nth, ask }) => {
    const statuses = [];
    for (let count = 0; count < 6; count++) statuses.push((await ask(userPath(ids.nobody))).status);
    const passing = 1 + (nth % 4);
    assert.deepEqual(
      statuses,
      Array.from({ length: 6 }, (_, count) => (count < passing ? 200 : 429)),
    );
  },
  async ({ nth, admin }) => {
    if (nth % 2 === 1) await admin('POST', 'clock/advance', { seconds: 60 });
  },
  async ({ nth, ask }) => assert.equal((await ask(userPath(ids.nobody))).status, nth % 2 === 1 ? 200 : 429),
  // It polls alone.
  async ({ nth, ask }) => {
    const statuses = [];
    for (let count = 0; count < 3; count++) statuses.push((await ask(depositPath(ids.afterPolls))).status);
    const pending = nth % 3 === 0 ? 202 : 404;
    assert.deepEqual(statuses, [pending, pending, 200]);
  },
  // Its journal holds its own requests and no other; a reset takes nothing from anybody else.
  async ({ world, admin }) => {
    const { requests } = (await admin('GET', 'requests')) as { requests: { world: string }[] };
    assert.deepEqual([requests.length, new Set(requests.map((one) => one.world))], [15, new Set([world])]);
  },
  async ({ nth, admin }) => {
    if (nth % 2 === 0) await admin('POST', 'reset');
  },
  async ({ nth, ask }) =>
    assert.equal((await ask(depositPath(ids.pending))).status, nth % 2 === 0 ? 404 : 200),
];

let mock: Mock;
before(async () => {
  mock = await startMock({ clock: { now: () => START, mode: 'frozen' } });
});
after(() => mock.close());

test('32 clients in 32 worlds at once never see each other', async () => {
  const clients = WORLDS.map((nth) => clientOf(mock, nth));
  for (const step of steps) await Promise.all(clients.map(step));
  assert.deepEqual(mock.requests(), []);
});
