import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Fixture, RunRecord } from '../schemas/generated/types.ts';
import { run, virtualClock } from '../suites/index.ts';
import { loadFixture } from './fixture-file.ts';
import { runOptions } from './run-options.ts';

/** An answer of the other server before it is sent. `what` names the rule that produced it. */
interface Draft {
  status: number;
  body: unknown;
  what: string;
  headers: Record<string, string>;
}

type Bend = (draft: Draft, request: IncomingMessage) => void;

/**
 * A conforming server that shares no code with the mock and behaves differently where the interface allows it:
 * 400 before 401, other headers, other spacing, a sliding rate limit. A test can change its answers.
 */
async function startOtherServer(fixture: Fixture, now: () => number, bend: Bend = () => undefined) {
  const spent = new Map<string, number[]>();
  const polls = new Map<string, number>();
  const startedAt = now();

  const isLimited = (name: string, most: number, seconds: number) => {
    const recent = (spent.get(name) ?? []).filter((at) => at > now() - seconds * 1000);
    spent.set(name, recent);
    return recent.length >= most;
  };

  const answer = (request: IncomingMessage): Draft => {
    const draft = (what: string, status: number, body: unknown): Draft => ({
      what,
      status,
      body,
      headers: {},
    });
    const url = new URL(request.url ?? '/', 'http://here');
    const isUsers = url.pathname === '/api/ib/user-status';
    if (!isUsers && url.pathname !== '/api/ib/deposit-check')
      return draft('no such path', 404, { error: 'nothing here' });
    const id = (url.searchParams.get(isUsers ? 'user_id' : 'reference_id') ?? '').toLowerCase();
    const form = isUsers
      ? /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
      : /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[89ab][\da-f]{3}-[\da-f]{12}$/;
    const [, key] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? [];
    const partner =
      fixture.apiKeys?.find((known) => known.key === key && known.state === 'active')?.partner ?? undefined;
    const account = `${isUsers} ${key}`;
    const charge = () => spent.get(account)?.push(now());
    const tooMany = () =>
      draft('users limited', 429, { error: 'Too many failed lookups. Please try again later.' });
    const isLimitedUser = partner !== undefined && isUsers && isLimited(account, 20, 2);
    if (!form.test(id)) {
      if (isLimitedUser) return tooMany();
      if (partner !== undefined && isUsers) charge();
      const name = isUsers ? 'user_id' : 'reference_id';
      return draft('bad id', 400, { error: `Invalid ${name} format` });
    }
    if (partner === undefined)
      return draft('no right', 401, { error: isUsers ? 'Unauthorized' : 'UNAUTHORIZED' });
    if (isLimitedUser) return tooMany();
    if (isUsers) {
      const user = fixture.users?.find((known) => known.user_id === id && known.partner === partner);
      const date_joined = user?.date_joined.replace('Z', '000+00:00') ?? null;
      if (user === undefined) charge();
      return draft(user === undefined ? 'stranger' : 'member', 200, {
        date_joined,
        is_under_ib: user !== undefined,
      });
    }
    if (isLimited(account, 60, 2)) return draft('deposits limited', 429, { error: 'TOO_MANY_REQUESTS' });
    charge();
    const deposit = fixture.deposits?.find((known) => known.reference_id.toLowerCase() === id);
    const owner = fixture.users?.find((known) => known.user_id === deposit?.user_id)?.partner;
    const missing = (what: string) => draft(what, 404, { error: 'Deposit not found' });
    if (deposit === undefined) return missing('unknown deposit');
    if (owner !== partner) return missing('foreign deposit');
    if (deposit.state === 'failed') return missing('failed deposit');
    if (deposit.state === 'EXECUTED')
      return draft('executed', 200, {
        executedAt: deposit.executedAt,
        status: 'EXECUTED',
        amountInUsd: deposit.amountInUsd,
      });
    const count = (polls.get(id) ?? 0) + 1;
    polls.set(id, count);
    const { becomes } = deposit;
    const isDue =
      count > (becomes?.afterPolls ?? Infinity) ||
      now() >= startedAt + (becomes?.afterSeconds ?? Infinity) * 1000;
    if (becomes === undefined || !isDue) return missing('pending deposit');
    return draft('turned', 200, { executedAt: now(), status: 'EXECUTED', amountInUsd: becomes.amountInUsd });
  };

  const server = createServer((request, response) => {
    const draft = answer(request);
    draft.headers = {
      'Content-Type': 'Application/JSON; charset=UTF-8',
      'X-Request-Id': crypto.randomUUID(),
      Server: 'other',
    };
    bend(draft, request);
    response.writeHead(draft.status, draft.headers);
    response.write(' ');
    response.end(typeof draft.body === 'string' ? draft.body : JSON.stringify(draft.body, undefined, 3));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const { limits: _, ...builtIn } = await loadFixture(undefined, {});
const limits = {
  'user-status': { failedLookups: 20, windowSeconds: 2 },
  'deposit-check': { requests: 60, windowSeconds: 2 },
};

async function verify(bend?: Bend, withLimits = true): Promise<RunRecord> {
  const clock = virtualClock(Date.UTC(2026, 0, 1));
  const fixture = withLimits ? { ...builtIn, limits } : builtIn;
  const server = await startOtherServer(fixture, clock.now, bend);
  try {
    const bounds = { seed: 1, cases: 100, concurrency: 8, maxDurationMs: Number.POSITIVE_INFINITY };
    return await run({
      ...runOptions({ fixture, ...bounds }),
      target: server.url,
      headers: {},
      clock,
      random: () => 0.5,
    });
  } finally {
    server.close();
  }
}

const idsOf = (record: RunRecord, outcome: string) =>
  record.requirements
    .filter((result) => result.outcome === outcome && result.level !== 'observed')
    .map(({ id }) => id);

test('a conforming server in another style passes, with its limits stated and without', async () => {
  for (const withLimits of [true, false]) {
    const record = await verify(undefined, withLimits);
    assert.deepEqual(idsOf(record, 'failed'), []);
    assert.deepEqual(idsOf(record, 'inconclusive'), []);
    assert.equal(record.verdict, 'conformant');
  }
});

const on =
  (what: string | RegExp, change: (draft: Draft) => void): Bend =>
  (draft) => {
    if (typeof what === 'string' ? draft.what === what : what.test(draft.what)) change(draft);
  };
/** One deviation of the other server, and every requirement that it breaks. */
const deviations: Readonly<Record<string, readonly [Bend, ...string[]]>> = {
  '403 for 401': [
    (draft, { url, headers }) => {
      if (
        draft.what === 'no right' &&
        headers.authorization === undefined &&
        url?.includes('user-status') === true &&
        Object.keys(headers).length <= 2
      )
        draft.status = 403;
    },
    'auth/user-status/missing',
  ],
  'a header that tells': [
    on('foreign deposit', (draft) => void (draft.headers['X-Owner'] = 'other')),
    'foreign-ib/deposit-check/indistinguishable',
  ],
  '500 for a long value': [
    (draft, { url }) => {
      if ((url?.length ?? 0) > 5000 && url?.includes('user_id=') === true) draft.status = 500;
    },
    'invalid-uuid/user-status/hostile',
    'robustness/service/no-5xx',
  ],
};

for (const [name, [bend, ...expected]] of Object.entries(deviations))
  test(`the other server with ${name} fails what speaks of it, and nothing else`, async () => {
    assert.deepEqual(idsOf(await verify(bend), 'failed').toSorted(), expected.toSorted());
  });
