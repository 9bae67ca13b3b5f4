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
    const bounds = { seed: 1, cases: 20, concurrency: 8, maxDurationMs: Number.POSITIVE_INFINITY };
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
const error = (text: string) => (draft: Draft) => void (draft.body = { error: text });
const status = (code: number) => (draft: Draft) => void (draft.status = code);
const field = (name: string, change: (value: never) => unknown) => (draft: Draft) => {
  const body = draft.body as Record<string, unknown>;
  body[name] = change(body[name] as never);
};

/** One deviation of the other server, and every requirement that it breaks. */
const deviations: Readonly<Record<string, readonly [Bend, ...string[]]>> = {
  'a letter of the 404 message': [
    on('failed deposit', error('Deposit not Found')),
    'pending/deposit-check/failed',
  ],
  'a dot after the 429 message': [
    on('deposits limited', error('TOO_MANY_REQUESTS.')),
    'rate-limit/deposit-check/message',
  ],
  'the other 401 message': [
    (draft, { headers }) => {
      if (
        draft.what === 'no right' &&
        headers.authorization?.endsWith('revoked-key') === true &&
        draft.body !== undefined
      )
        draft.body = { error: 'unauthorized' };
    },
    'auth/user-status/revoked',
    'auth/deposit-check/revoked',
  ],
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
  '404 for a stranger': [
    on('stranger', status(404)),
    'foreign-ib/user-status/other-ib',
    'foreign-ib/user-status/unknown',
  ],
  'a string for a boolean': [
    on('stranger', field('is_under_ib', String)),
    'foreign-ib/user-status/other-ib',
    'foreign-ib/user-status/unknown',
  ],
  'a string for an amount': [on('executed', field('amountInUsd', String)), 'valid/deposit-check/amount'],
  'seconds for milliseconds': [
    on(
      'executed',
      field('executedAt', (ms: number) => Math.round(ms / 1000)),
    ),
    'valid/deposit-check/executed-at',
  ],
  'a naive date': [
    on(
      'member',
      field('date_joined', (date: string) => date.slice(0, 19)),
    ),
    'valid/user-status/date-joined',
    'valid/user-status/date-joined-format',
  ],
  'a third field for strangers': [
    on(
      'stranger',
      field('note', () => 1),
    ),
    'foreign-ib/user-status/shape',
  ],
  'a fourth field': [
    on(
      'executed',
      field('currency', () => 'USD'),
    ),
    'valid/deposit-check/closed',
  ],
  '409 for a pending deposit': [on('pending deposit', status(409)), 'pending/deposit-check/pending'],
  'another type': [
    (draft) => void (draft.headers['Content-Type'] = 'text/plain'),
    'valid/service/json-content-type',
  ],
  'HTML for 400': [
    (draft) => {
      if (draft.what === 'bad id' && JSON.stringify(draft.body).includes('reference_id'))
        draft.body = '<h1>400</h1>';
    },
    'invalid-uuid/deposit-check/missing',
    'invalid-uuid/deposit-check/empty',
    'invalid-uuid/deposit-check/malformed',
    'invalid-uuid/deposit-check/alternative-spelling',
  ],
  'a header that tells': [
    on('foreign deposit', (draft) => void (draft.headers['X-Owner'] = 'other')),
    'foreign-ib/deposit-check/indistinguishable',
  ],
  'a partner id in a header': [
    on('member', (draft) => void (draft.headers['X-Partner'] = 'contoso')),
    'valid/service/no-user-data',
  ],
  '500 for a long value': [
    (draft, { url }) => {
      if ((url?.length ?? 0) > 5000 && url?.includes('user_id=a') === true) draft.status = 500;
    },
    'invalid-uuid/user-status/hostile',
    'robustness/service/no-5xx',
  ],
};

for (const [name, [bend, ...expected]] of Object.entries(deviations))
  test(`the other server with ${name} fails what speaks of it, and nothing else`, async () => {
    assert.deepEqual(idsOf(await verify(bend), 'failed').toSorted(), expected.toSorted());
  });
