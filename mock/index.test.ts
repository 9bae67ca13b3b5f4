import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readFixture } from '../schemas/fixture.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { createMock, startMock } from './index.ts';
import { builtIn, ids, userPath } from './testing/session.ts';
import { bearer } from './testing/sockets.ts';

const [user, ...others] = builtIn.users!;
const env = { IB_SET: 'a-secret' };
const fromEnv: Fixture = {
  apiKeys: [{ key: '${IB_SET}', partner: 'northwind', state: 'active' }],
  users: [{ ...user! }],
};
const ask = (url: string, key: string) => fetch(url + userPath(ids.member), bearer(key));

/** Returns the error for the same fixture in a file. */
function errorOfFile(fixture: Fixture): string {
  try {
    readFixture(JSON.stringify(fixture), 'fixture', env);
  } catch (error) {
    return (error as Error).message;
  }
  return assert.fail('the file is accepted');
}

describe('a wrong fixture gets the same error as in a file', () => {
  for (const [what, fixture] of Object.entries({
    'a date': { ...builtIn, users: [{ ...user!, date_joined: '2024-13-01' }, ...others] },
    'a dangling reference': { ...builtIn, users: others },
    'no object': [] as Fixture,
    'a part that is no list': { users: {} } as Fixture,
    'an unset variable': { apiKeys: [{ key: '${IB_NONE}', partner: 'p', state: 'active' as const }] },
  }))
    test(`${what}, at the start`, async () => {
      const problem = { name: 'Problem', code: 'fixture', message: errorOfFile(fixture) };
      const started = startMock({ fixture, env }).then((mock) => mock.close());
      await assert.rejects(started, problem);
      await using mock = await startMock();
      assert.equal((await ask(mock.url, 'northwind-key')).status, 200);
    });
  test('without a socket, at once', async () => {
    const fixture = { ...builtIn, users: others };
    assert.throws(() => createMock({ fixture }), { name: 'Problem', message: errorOfFile(fixture) });
  });
});

test('keys are read from the given environment, or from that of the process', async () => {
  await using mock = await startMock({ fixture: fromEnv, env });
  assert.equal((await ask(mock.url, env.IB_SET)).status, 200);
  const inProcess = createMock({ fixture: fromEnv, env });
  assert.equal((await inProcess.fetch(mock.url + userPath(ids.member), bearer(env.IB_SET))).status, 200);
  const name = Object.keys(process.env).find((one) => /^[!-~]+$/.test(process.env[one] ?? ''))!;
  const apiKeys = [{ key: `\${${name}}`, partner: 'northwind', state: 'active' as const }];
  await using own = await startMock({ fixture: { ...fromEnv, apiKeys } });
  assert.equal((await ask(own.url, process.env[name]!)).status, 200);
});

test('later changes of the given objects have no effect', async () => {
  const users = [...builtIn.users!];
  await using mock = await startMock({ fixture: { ...builtIn, users } });
  users.length = 0;
  assert.match(await (await ask(mock.url, 'northwind-key')).text(), /"is_under_ib":true/);
});
