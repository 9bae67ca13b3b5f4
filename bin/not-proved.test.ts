import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reference } from '../mock/server/handler.ts';
import { reports } from '../reports/index.ts';
import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { limits, verifyMock } from './dev/testing/verify-mock.ts';
import { builtIn } from './dev/testing/fixtures.ts';

const fixture = { ...builtIn, limits };

describe('a result that a server without the data would also have is marked as not proved', () => {
  const isOnWord = (one: RequirementResult) => one.outcome === 'passed' && one.basis === 'fixture';
  const onWord = ({ requirements }: RunRecord) => new Set(requirements.filter(isOnWord).map(({ id }) => id));
  const both = (suite: string, names: string) =>
    names
      .split(' ')
      .flatMap((name) => ['user-status', 'deposit-check'].map((one) => `${suite}/${one}/${name}`));
  const never = ['pending/deposit-check/failed', ...both('auth', 'expired non-partner')];
  const ofPending = ['pending/deposit-check/pending', 'pending/deposit-check/indistinguishable'];
  const ofOthers = both('foreign-ib', 'other-ib indistinguishable');
  const unproved = [...both('auth', 'revoked'), ...ofOthers, ...ofPending];
  test('except for results that the run proves', async () => {
    const record = await verifyMock(reference, { fixture, seed: 7, cases: 30 });
    assert.equal(record.verdict, 'conformant');
    assert.deepEqual(onWord(record), new Set(never));
  });
  test('without a state hook, and without data of other partners', async () => {
    const complete = {
      ...fixture,
      apiKeys: fixture.apiKeys!.filter(({ partner, state }) => partner !== 'contoso' || state !== 'active'),
      deposits: fixture.deposits!.filter((one) => one.state !== 'pending' || one.becomes === undefined),
    };
    const users = fixture.users!.filter(({ partner }) => partner === 'northwind');
    const ours = new Set(users.map(({ user_id }) => user_id));
    const served = {
      ...complete,
      apiKeys: complete.apiKeys.filter(({ partner, state }) => partner === 'northwind' && state === 'active'),
      users,
      deposits: complete.deposits.filter(({ user_id, state }) => ours.has(user_id) && state === 'EXECUTED'),
    };
    const run = { fixture: complete, seed: 7, cases: 30, hasStateHook: false };
    const record = await verifyMock(reference, run, served);
    assert.deepEqual(onWord(record), new Set([...never, ...unproved]));
    const text = reports.console(record, { color: false, width: 100, verbose: true });
    const [, items = ''] =
      /^Passed, but a server without this data would pass too\n([^]*?)\n\n/m.exec(text) ?? [];
    assert.equal(items.match(/^ {2}✓ /gm)?.length, 13);
  });
});
