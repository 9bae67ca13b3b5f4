import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FixtureApiKey } from '../schemas/generated/types.ts';
import {
  knownFrom,
  type Known,
  type KnownKey,
  afterChange,
  afterUndo,
  executionAt,
  type Change,
} from './known.ts';
import { sampleFixture as fixture, sampleKnown as known } from './testing/samples.ts';
import { factsOf } from './rules/facts-of-request.ts';
import { depositCheck, userStatus, type Request } from './request.ts';

const keys = (list: readonly { readonly key: string }[]) => list.map(({ key }) => key);

describe('the caller', () => {
  test('is the partner of the first active partner key', () => {
    assert.equal(known.partner, 'northwind');
    assert.deepEqual(keys(known.callerKeys), ['pk_live_aB3dE6gH9', 'pk_spare_zX8cV1bN']);
    assert.deepEqual(keys(known.otherKeys), ['pk_cont_Yt5Wn0Qs']);
  });
  test('is the selected partner', () => {
    const contoso = knownFrom(fixture, 'contoso');
    assert.equal(contoso.partner, 'contoso');
    assert.deepEqual(keys(contoso.callerKeys), ['pk_cont_Yt5Wn0Qs']);
    assert.deepEqual(keys(contoso.otherKeys), ['pk_live_aB3dE6gH9', 'pk_spare_zX8cV1bN']);
    const partners = contoso.members.map(({ partner }) => partner);
    assert.deepEqual(partners, ['contoso']);
  });
  for (const partner of ['fabrikam', 'nobody', 'Northwind', ''])
    test(`cannot be ${JSON.stringify(partner)}, which has no active key`, () => {
      const problem = { name: 'Problem', code: 'usage', message: /northwind, contoso/ };
      assert.throws(() => knownFrom(fixture, partner), problem);
    });
  test('has others: those whose partner has an EXECUTED deposit come first', () => {
    const more = { key: 'without-deposit', partner: 'empty', state: 'active' } as const;
    const { otherKeys } = knownFrom({ ...fixture, apiKeys: [more, ...fixture.apiKeys!] }, 'northwind');
    assert.deepEqual(keys(otherKeys), ['pk_cont_Yt5Wn0Qs', 'without-deposit']);
  });
  test('does not use a key that expires by itself or has its own limits', () => {
    const active = { partner: 'northwind', state: 'active' } as const;
    const limits = { 'deposit-check': { requests: 1, windowSeconds: 1 } };
    const apiKeys: FixtureApiKey[] = [
      { key: 'ending', ...active, expiresAfterSeconds: 30 },
      { key: 'limited', ...active, limits },
      { key: 'dated', ...active, expiresAt: 4_000_000_000_000 },
    ];
    const { callerKeys, everyKey } = knownFrom({ ...fixture, apiKeys });
    assert.deepEqual(keys(callerKeys), ['dated']);
    assert.equal(everyKey.length, 3);
  });
});

test('keys are grouped by state and owner', () => {
  assert.deepEqual(keys(known.revokedKeys), ['pk_old_R7q2ZmK9']);
  assert.deepEqual(keys(known.expiredKeys), ['pk_gone_Mn4Jk7Lo']);
  assert.deepEqual(keys(known.nonPartnerKeys), ['uk_jane_H3v8LpX1']);
  assert.deepEqual(keys(known.everyKey), keys(fixture.apiKeys!));
});

const ids = (list: readonly ({ readonly user_id: string } | { readonly reference_id: string })[]) =>
  list.map((item) => ('reference_id' in item ? item.reference_id : item.user_id).slice(0, 2).toLowerCase());

describe('users and deposits', () => {
  test('are ours or not, in any letter case of their ids', () => {
    assert.deepEqual(ids(known.members), ['1a', '1b']);
    assert.deepEqual(ids(known.foreigners), ['2c', '3d']);
    assert.deepEqual(ids(known.executed), ['4a']);
    assert.deepEqual(ids(known.pending), ['4b']);
    assert.deepEqual(ids(known.failed), ['4c']);
  });
  test('that become EXECUTED are a separate group for their partner, and foreign for others', () => {
    assert.deepEqual(ids(known.becoming), ['4d']);
    assert.deepEqual(ids(known.foreignDeposits), ['5a', '5b', '5c']);
    assert.deepEqual(ids(knownFrom(fixture, 'contoso').becoming), ['5c']);
  });
});

test('partners are collected from all parts, each once', () => {
  assert.deepEqual(known.partnerIds, ['northwind', 'contoso', 'fabrikam']);
  const { partners: _, ...unlisted } = fixture;
  assert.deepEqual(knownFrom(unlisted).partnerIds, ['northwind', 'contoso']);
});

describe('a part that is missing', () => {
  test('gives empty lists', () => {
    for (const [part, found] of Object.entries(knownFrom({}))) {
      const size = found instanceof Map ? found.size : Object.keys(found ?? {}).length;
      assert.equal(size, 0, part);
    }
  });
  test('keys: all users and deposits are foreign', () => {
    const { apiKeys: _, ...keyless } = fixture;
    const of = knownFrom(keyless);
    assert.equal(of.partner, undefined);
    assert.deepEqual(ids(of.members), []);
    assert.deepEqual(ids(of.foreigners), ['1a', '1b', '2c', '3d']);
    assert.deepEqual(ids(of.foreignDeposits), ['4a', '4b', '4c', '4d', '5a', '5b', '5c']);
  });
  test('a key without a partner does not own the users without an IB', () => {
    const apiKeys = fixture.apiKeys!.filter(({ partner }) => partner === null);
    assert.deepEqual(ids(knownFrom({ ...fixture, apiKeys }).members), []);
  });
});

const [pending] = known.pending;
const [first, second] = known.callerKeys as [KnownKey, KnownKey];
const [stranger] = known.otherKeys as [KnownKey];
const execution = { amountInUsd: 123.45, executedAt: 1_700_000_000_123 };
const executed: Change = {
  state: 'deposit executed',
  deposit: { ...pending!, state: 'EXECUTED', ...execution },
};
const revoked: Change = { state: 'key revoked', key: second };

const kindOf = (view: Known, request: Request) => {
  const { key, entity, isBecoming } = factsOf(view, request)!;
  return `${key} ${entity}${isBecoming ? ', or EXECUTED' : ''}`;
};
const withKey = (key: KnownKey) => ({ credential: { as: 'key', key } }) as const;

test('a deposit is EXECUTED for its owner and stays hidden from others; no other deposit changes', () => {
  const after = afterChange(executed, known);
  const kind = (...of: Parameters<typeof depositCheck>) => kindOf(after, depositCheck(...of));
  assert.equal(kind(pending!.reference_id.toUpperCase()), 'accepted EXECUTED');
  assert.equal(kind(pending!.reference_id, withKey(stranger)), 'accepted foreign');
  assert.equal(kind(known.failed[0]!.reference_id), 'accepted failed');
  const undone = afterUndo(executed, known);
  assert.equal(kindOf(undone, depositCheck(pending!.reference_id)), 'accepted pending, or EXECUTED');
  assert.equal(kindOf(known, depositCheck(pending!.reference_id)), 'accepted pending');
});

test('a revoked key must be refused, other keys of its partner may be, and those of others not', () => {
  const member = known.members[0]!.user_id;
  const [after, undone] = [afterChange(revoked, known), afterUndo(revoked, known)];
  for (const [key, expected, then] of [
    [second, 'revoked unknown', 'open own user'],
    [first, 'open own user', 'open own user'],
    [stranger, 'accepted foreign', 'accepted foreign'],
  ] as const) {
    assert.equal(kindOf(after, userStatus(member, withKey(key))), expected);
    assert.equal(kindOf(undone, userStatus(member, withKey(key))), then);
  }
});

test('a key that was revoked is not used any more, unless it is the only one', () => {
  const keysOf = (of: Known) => of.callerKeys.map(({ key }) => key);
  for (const change of [afterChange, afterUndo]) {
    assert.deepEqual(keysOf(change(revoked, known)), [first.key]);
    const one = { ...known, callerKeys: [second] };
    assert.deepEqual(keysOf(change(revoked, one)), [second.key]);
  }
});

test('a state hook gets an execution time in whole milliseconds, not in whole seconds, in the past', () => {
  const startedAt = Date.UTC(2026, 0, 1);
  // Clocks have fractions of milliseconds.
  for (const step of [0, 0.3, 0.7, 1.1, 333.3, 999.9]) {
    const { executedAt } = executionAt(startedAt + step);
    assert.ok(Number.isSafeInteger(executedAt), `${executedAt}`);
    assert.ok(executedAt % 1000 !== 0 && executedAt < startedAt + step, `${executedAt}`);
  }
});
