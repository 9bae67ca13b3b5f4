import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reference } from '../mock/server/handler.ts';
import { field, fields, on, opened, type Change } from '../mock/deviations/deviate.ts';
import { faults } from '../mock/deviations/faults.ts';
import type { Exchange } from '../mock/server/exchange.ts';
import type { Failed } from '../schemas/generated/types.ts';
import { defaults } from './commands/flags.ts';
import { catalogue, isLookupRow } from '../suites/index.ts';
import { ids } from '../mock/testing/session.ts';
import { unlimited } from './dev/testing/fixtures.ts';
import { partOf } from './dev/testing/part.ts';
import { verifyMock } from './dev/testing/verify-mock.ts';

/** The failure of a requirement by a server that is wrong in one way. With some seeds, only a special case fails. */
async function found(id: string, change: Change, maxRequests?: number): Promise<Failed> {
  const options = { fixture: unlimited, cases: defaults.cases, skip: ['rate-limit'] };
  const bound = maxRequests === undefined ? {} : { maxRequests };
  for (const seed of [1, 2, 3, 4, 5]) {
    const { requirements } = await verifyMock(change(reference), { ...options, ...bound, seed });
    const failure = requirements.find((one) => one.id === id);
    if (failure?.outcome === 'failed') return failure;
  }
  return assert.fail(`${id} did not fail`);
}

describe('of header fields that are sent together, the one that matters is named', () => {
  const isSent = (name: string, start: string) => (exchange: Exchange) =>
    String(exchange.request.headers[name] ?? '').startsWith(start);
  const ofProxy = on('member', isSent('x-real-ip', '127.'), fields({ is_under_ib: false }));
  const ofForm = opened((_key, { headers }) => headers['cf-connecting-ip'] === '10.1.2.3');
  const [member, missing] = ['valid/user-status/member', 'auth/user-status/missing'];
  const rows = [
    ['of a browser', faults['browser-refused']!.change, member, 'User-Agent: Mozilla/5.0 '],
    ['of a proxy', ofProxy, member, 'X-Real-Ip: 127.0.0.1'],
    ['of a form of the request, which no levels describe', ofForm, missing, 'Cf-Connecting-Ip: 10.1.2.3'],
  ] as const;
  for (const [what, change, id, words] of partOf(rows, 3))
    test(what, async () => {
      const failure = await found(id, change);
      assert.ok(failure.where?.[0]?.startsWith(`fields: ${words}`), String(failure.where));
      assert.equal(failure.where?.length, 1);
      const { authorization: _, ...sent } = failure.counterexample!.request.headers;
      assert.deepEqual(Object.keys(sent), [words.split(':')[0]!.toLowerCase()]);
    });
});

describe('the mistake that explains all wrong values is named, and none if one value is wrong in another way', () => {
  const causes = {
    'amount-in-cents': 'amountInUsd: it is 100 times as much (in cents?)',
    'amount-cut-to-dollars': 'amountInUsd: it is cut to whole dollars',
    'amount-in-32-bits': 'amountInUsd: it has the precision of 32 bits (float instead of double?)',
    'amount-as-text': 'amountInUsd: it is a text instead of a number',
    'time-in-seconds': 'executedAt: it is a thousandth (in seconds?)',
    'time-cut-to-seconds': 'executedAt: it has no milliseconds',
    'time-as-iso-text': 'executedAt: it is a text instead of a number',
    'date-day-and-month-swapped': 'date_joined: day and month are swapped',
    'date-two-hours-late': 'date_joined: it is 2 h late (local time of a zone?)',
    'date-in-twelve-hours': 'date_joined: hours are counted from 1 to 12 (hh instead of HH in a format?)',
    'date-cut-to-seconds': 'date_joined: it has no fraction of a second',
    'date-naive': 'date_joined: it has no time zone',
    'date-epoch-number': 'date_joined: it is Unix milliseconds',
    'user-status-401-of-deposit-check': 'error: it is the message of the other endpoint',
    'deposit-check-404-in-other-case': 'error: its letter case differs',
    'user-status-400-with-space-behind': 'error: white space is added at its end',
  };
  const causesBy = async (change: Change) => {
    const options = { fixture: unlimited, cases: defaults.cases, seed: 1, hasStateHook: false };
    const requirements = catalogue.filter((one) => isLookupRow(one) && one.level === 'required');
    const record = await verifyMock(change(reference), { ...options, requirements });
    const failures = record.requirements.filter((one) => one.outcome === 'failed');
    assert.ok(failures.length > 0);
    return [...new Set(failures.map(({ cause }) => cause))].join();
  };
  const { member, executed } = ids;
  const otherwise = {
    amount: on('executed', ({ call }) => call?.value === executed, fields({ amountInUsd: 7.25 })),
    time: on('executed', ({ call }) => call?.value === executed, fields({ executedAt: 7 })),
    date: on('member', ({ call }) => call?.value === member, fields({ date_joined: '2001-02-03T04:05:06Z' })),
  };
  for (const [id, cause] of partOf(Object.entries(causes), 4))
    test(id, async () => {
      assert.equal(await causesBy(faults[id]!.change), cause);
      const other = Object.entries(otherwise).find(([name]) => id.startsWith(name))?.[1];
      if (other !== undefined) assert.equal(await causesBy((from) => other(faults[id]!.change(from))), '');
    });
  const late = faults['date-two-hours-late']!.change;
  const cents = (usd: number) => Math.round(usd * 100) / 100;
  const none: Readonly<Record<string, Change>> = {
    ...Object.fromEntries(
      ['date-one-ms-late', 'amount-capped', 'user-status-401-with-letter-doubled'].map((id) => [
        id,
        faults[id]!.change,
      ]),
    ),
    'a condition, and right values beside it': on(
      'executed',
      field('amountInUsd', (usd: number) => (usd < 1 ? 0 : usd)),
    ),
    'another wrong field': (from) => on('member', fields({ tier: 'gold' }))(late(from)),
  };
  for (const [what, change] of Object.entries(none))
    test(`none for ${what}`, async () => {
      const named = await causesBy(change);
      assert.equal(named.replace(/^date_joined: it is 2 h late .*?\?\),?/, ''), '');
    });
  test('amounts rounded to cents, of which few show it', async () => {
    const named = await causesBy(on('executed', field('amountInUsd', cents)));
    assert.match(named, /^amountInUsd: it is rounded to cents/);
  });
});

test('a failure that the end of the run left unexplained says so', async () => {
  const unexplained = async (most?: number) =>
    (await found('valid/user-status/member', faults['member-denied']!.change, most)).unexplained;
  assert.equal(await unexplained(), undefined);
  for (const most of [120, 1500]) assert.equal(await unexplained(most), true, String(most));
});
