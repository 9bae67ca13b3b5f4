import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reference } from '../mock/server/handler.ts';
import { fields, on, opened, type Change } from '../mock/deviations/deviate.ts';
import { faults } from '../mock/deviations/faults.ts';
import type { Exchange } from '../mock/server/exchange.ts';
import type { Failed } from '../schemas/generated/types.ts';
import { defaults } from './commands/flags.ts';
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

test('a failure that the end of the run left unexplained says so', async () => {
  const unexplained = async (most?: number) =>
    (await found('valid/user-status/member', faults['member-denied']!.change, most)).unexplained;
  assert.equal(await unexplained(), undefined);
  for (const most of [120, 1500]) assert.equal(await unexplained(most), true, String(most));
});
