import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startMock } from '../../mock/server.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { Problem } from '../../schemas/problem.ts';
import { verify } from './index.ts';

const fixture: Fixture = {
  apiKeys: [{ key: '${TEST_KEY}', partner: 'northwind', state: 'active' }],
  users: [
    {
      user_id: '11111111-1111-4111-8111-111111111111',
      partner: 'northwind',
      date_joined: '2023-01-02T03:04:05.006Z',
    },
  ],
};
const only = ['valid/user-status/member'];

test('keys of the fixture are read from the environment', async () => {
  const [key] = fixture.apiKeys!;
  await using mock = await startMock({ fixture: { ...fixture, apiKeys: [{ ...key!, key: 'secret-key' }] } });
  const run = { url: mock.url, fixture, only, cases: 1, seed: 1 };
  assert.equal((await verify({ ...run, env: { TEST_KEY: 'secret-key' } })).verdict, 'conformant');
  assert.notEqual((await verify({ ...run, env: { TEST_KEY: 'other-key' } })).verdict, 'conformant');
  await assert.rejects(verify({ ...run, env: {} }), /apiKeys\[0\]\.key needs .* TEST_KEY/);
});

test('a fixture that is wrong is refused with its place', async () => {
  const wrong = { users: [{ user_id: 'x' }] } as unknown as Fixture;
  await assert.rejects(
    verify({ url: 'http://127.0.0.1:1', fixture: wrong, only }),
    (error) => error instanceof Problem && error.code === 'fixture' && /users\[0\]/.test(error.message),
  );
});
