import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadFixture } from '../fixture-file.ts';
import { oracleOf, type Asked } from './oracle.ts';

const oracle = oracleOf(await loadFixture(undefined, {}));
const asked: Asked = {
  method: 'GET',
  path: 'user-status',
  id: '11111111-1111-4111-8111-111111111111',
  isId: true,
  key: 'northwind-key',
  world: '',
};
const executed = '44444444-4444-4444-8444-444444444444';
const EXECUTED = '{"status":"EXECUTED","amountInUsd":250.5,"executedAt":1705314600000}';
const NOT_FOUND = '{"error":"Deposit not found"}';

const deposit = (id: string, more: Partial<Asked> = {}) => ({ path: 'deposit-check', id, ...more }) as const;

for (const [changes, status, body, counts] of [
  [{}, 200, '{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}', false],
  [{ key: 'contoso-key' }, 200, '{"is_under_ib":false,"date_joined":null}', true],
  [{ id: 'x', isId: false }, 400, '{"error":"Invalid user_id format"}', true],
  [{ id: undefined }, 400, '{"error":"Invalid user_id format"}', true],
  [{ key: undefined }, 401, '{"error":"Unauthorized"}', false],
  [{ key: 'northwind-revoked-key' }, 401, '{"error":"Unauthorized"}', false],
  [{ key: 'jane-personal-key' }, 401, '{"error":"Unauthorized"}', false],
  [{ method: 'HEAD' }, 200, '', false],
  [{ method: 'POST', key: undefined }, 405, '{"error":"Method not allowed"}', false],
  [{ path: '/x', method: 'POST' }, 404, '{"error":"Not found"}', false],
  [deposit(executed), 200, EXECUTED, true],
  [deposit(executed, { key: 'contoso-key' }), 404, NOT_FOUND, true],
  [deposit(executed, { key: 'no-key' }), 401, '{"error":"UNAUTHORIZED"}', false],
  [deposit('cccccccc-cccc-4ccc-8ccc-cccccccccccc'), 404, NOT_FOUND, true],
  [deposit('66666666-6666-4666-8666-666666666666'), 404, NOT_FOUND, true],
  [deposit('88888888-8888-4888-8888-888888888888'), 404, NOT_FOUND, true],
] as const)
  test(`${JSON.stringify(changes)} is answered ${status}`, () =>
    assert.deepEqual(oracle({ ...asked, ...changes }), { status, body, counts }));

test('a deposit that is EXECUTED after polls says after how many, to its partner alone', () => {
  const id = '77777777-7777-4777-8777-777777777777';
  assert.deepEqual(oracle({ ...asked, ...deposit(id) }).becomes, {
    id,
    afterPolls: 3,
    start: '{"status":"EXECUTED","amountInUsd":75.25,"executedAt":',
  });
  assert.equal(oracle({ ...asked, ...deposit(id, { key: 'contoso-key' }) }).becomes, undefined);
});
