import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reference } from '../mock/server/handler.ts';
import { reports } from '../reports/index.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import { limits, verifyMock } from './dev/testing/verify-mock.ts';
import { loadFixture } from './input-files.ts';

const fixture = { ...(await loadFixture(undefined, {})), limits };

describe('a result that a server without the data would also have is marked as not proved', () => {
  const onWord = ({ requirements }: RunRecord) =>
    requirements.flatMap((row) => (row.outcome === 'passed' && row.basis === 'fixture' ? [row.id] : []));
  const own = (names: string) => names.split(' ');
  const never = own(
    'pending/deposit-check/failed auth/user-status/expired auth/user-status/non-partner auth/deposit-check/expired auth/deposit-check/non-partner',
  );
  const ofKeys = own('auth/user-status/revoked auth/deposit-check/revoked');
  const ofEntities = own(
    'foreign-ib/user-status/other-ib foreign-ib/user-status/indistinguishable foreign-ib/deposit-check/other-ib foreign-ib/deposit-check/indistinguishable pending/deposit-check/pending pending/deposit-check/indistinguishable',
  );
  test('except for results that the run proves', async () => {
    const record = await verifyMock(reference, { fixture, seed: 7, cases: 30 });
    assert.equal(record.verdict, 'conformant');
    assert.deepEqual(new Set(onWord(record)), new Set(never));
  });
  test('without a state hook, and without data of other partners', async () => {
    const ours = new Set(
      fixture.users!.filter(({ partner }) => partner === 'northwind').map((one) => one.user_id),
    );
    const stays = (deposit: NonNullable<typeof fixture.deposits>[number]) =>
      deposit.state !== 'pending' || deposit.becomes === undefined;
    const complete = {
      ...fixture,
      apiKeys: fixture.apiKeys!.filter(({ partner, state }) => partner !== 'contoso' || state !== 'active'),
      deposits: fixture.deposits!.filter(stays),
    };
    const served = {
      ...complete,
      apiKeys: complete.apiKeys.filter(({ partner, state }) => partner === 'northwind' && state === 'active'),
      users: fixture.users!.filter(({ user_id }) => ours.has(user_id)),
      deposits: complete.deposits.filter(({ user_id, state }) => ours.has(user_id) && state === 'EXECUTED'),
    };
    const run = { fixture: complete, seed: 7, cases: 30, hasStateHook: false };
    const record = await verifyMock(reference, run, served);
    assert.deepEqual(new Set(onWord(record)), new Set([...never, ...ofKeys, ...ofEntities]));
    const text = reports.console(record, { color: false, width: 100, verbose: true });
    const [, items = ''] =
      /^Passed, but a server without this data would pass too\n([^]*?)\n\n/m.exec(text) ?? [];
    assert.equal(items.match(/^ {2}✓ /gm)?.length, 13);
  });
});
