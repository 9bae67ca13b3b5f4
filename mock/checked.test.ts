import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readFixture } from '../schemas/fixture.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { createMock, startMock } from './index.ts';
import { builtIn } from './testing/probes.ts';
import { ids, userPath } from './testing/session.ts';

const [user, ...others] = builtIn.users!;
const wrong: readonly (readonly [string, Fixture])[] = [
  ['a date', { ...builtIn, users: [{ ...user!, date_joined: '2024-13-01' }, ...others] }],
  ['an unknown part', { ...builtIn, user: [] } as Fixture],
  ['a twin', { ...builtIn, users: [...builtIn.users!, user!] }],
  ['a dangling reference', { ...builtIn, users: others }],
  ['no object', [] as Fixture],
  ['a part that is no list', { users: {} } as Fixture],
  ['a key of the environment', { apiKeys: [{ key: '${IB_NONE}', partner: 'p', state: 'active' }] }],
];
const env = { IB_SET: 'a-secret' };
const fromEnv: Fixture = {
  apiKeys: [{ key: '${IB_SET}', partner: 'northwind', state: 'active' }],
  users: [{ ...user! }],
};

/** What is said of the same text in a file. */
function saidOfFile(fixture: Fixture): string {
  try {
    readFixture(JSON.stringify(fixture), 'fixture', env);
  } catch (error) {
    return (error as Error).message;
  }
  return assert.fail('the file is taken');
}

describe('a fixture that is given in process is told what is wrong in the words for a file', () => {
  for (const [what, fixture] of wrong) {
    const problem = { name: 'Problem', code: 'fixture', message: saidOfFile(fixture) };
    test(`${what}, at the start`, () =>
      assert.rejects(
        startMock({ fixture, env }).then((mock) => mock.close()),
        problem,
      ));
    test(`${what}, in the place of another`, async () => {
      await using mock = await startMock();
      await assert.rejects(mock.replaceFixture(fixture), problem);
      const headers = { authorization: 'Bearer northwind-key' };
      assert.equal((await fetch(mock.url + userPath(ids.member), { headers })).status, 200);
    });
  }
  test('without a socket, by the first request', async () => {
    const [, fixture] = wrong[0]!;
    const { handle } = createMock({ fixture });
    for (let count = 0; count < 2; count++)
      await assert.rejects(handle(new Request('http://ib.example/')), { message: saidOfFile(fixture) });
  });
});

describe('keys are read from the environment', () => {
  const headers = { authorization: `Bearer ${env.IB_SET}` };
  test('that is passed in', async () => {
    await using mock = await startMock({ fixture: fromEnv, env });
    assert.equal((await fetch(mock.url + userPath(ids.member), { headers })).status, 200);
    const { handle } = createMock({ fixture: fromEnv, env });
    assert.equal((await handle(new Request(mock.url + userPath(ids.member), { headers }))).status, 200);
  });
  test('and that of the process otherwise', async () => {
    const name = Object.keys(process.env).find((one) => /^[!-~]+$/.test(process.env[one] ?? ''))!;
    const apiKeys = [{ key: `\${${name}}`, partner: 'northwind', state: 'active' }] as const;
    await using mock = await startMock({ fixture: { ...fromEnv, apiKeys: [...apiKeys] } });
    const own = { authorization: `Bearer ${process.env[name]!}` };
    assert.equal((await fetch(mock.url + userPath(ids.member), { headers: own })).status, 200);
  });
});

test('what becomes of the lists of the caller later changes nothing', async () => {
  const users = [...builtIn.users!];
  await using mock = await startMock({ fixture: { ...builtIn, users } });
  users.length = 0;
  const headers = { authorization: 'Bearer northwind-key' };
  assert.match(
    await (await fetch(mock.url + userPath(ids.member), { headers })).text(),
    /"is_under_ib":true/,
  );
});
