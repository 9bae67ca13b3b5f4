import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RunRecord } from '../schemas/generated/types.ts';
import { run, virtualClock } from '../suites/index.ts';
import { loadFixture } from './fixture-file.ts';
import { runOptions } from './run-options.ts';
import { startOtherServer, type Bend, type Draft } from './testing/other-server.ts';

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
