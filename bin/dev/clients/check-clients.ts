/**
 * Runs third-party HTTP clients against the mock as a process (`npm run test:clients`): valid, invalid, limited and
 * polling lookups, each client in its own world. If the tool of a client is missing, its test fails, or is
 * skipped with `ALLOW_SKIPS=1`.
 */
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text as textOf } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { waitForLine } from '../../testing/child-process.ts';
import { root } from '../paths.ts';
import { skipWithout } from '../skip-without.ts';

const here = (file: string) => join(import.meta.dirname, file);
const clients = [
  { name: 'curl', tool: ['curl', '--version'], command: ['bash', here('curl.sh')] },
  { name: 'urllib', tool: ['python3', '--version'], command: ['python3', here('urllib_client.py')] },
  { name: 'HttpClient', tool: ['java', '--version'], command: ['java', here('JavaClient.java')] },
] as const;

const user = (id: string) => `/api/ib/user-status?user_id=${id}`;
const deposit = (id: string) => `/api/ib/deposit-check?reference_id=${id}`;
const member = user('11111111-1111-4111-8111-111111111111');
const nobody = user('00000000-0000-4000-8000-000000000000');
const pending = deposit('77777777-7777-4777-8777-777777777777');
const notMember = '{"is_under_ib":false,"date_joined":null} 200';
const notFound = '{"error":"Deposit not found"} 404';

/** Start of the clock of each world. */
const NOON = Date.UTC(2026, 0, 1, 12);

const expectedOfOpenapiFetch = `\
200 true 2024-02-29T23:59:59.999Z
200 false null
400 Invalid user_id format
401 Unauthorized
429 Too many failed lookups. Please try again later.
200 EXECUTED 250.50 at 2024-01-15T10:30:00.000Z
404 Deposit not found
400 Invalid reference_id format
401 UNAUTHORIZED
429 TOO_MANY_REQUESTS
`;

const run = promisify(execFile);
const exists = ([tool, ...args]: readonly [string, ...string[]]) => spawnSync(tool, args).status === 0;

describe('third-party clients', () => {
  const flags = ['mock', '--port', '0', '--clock', 'frozen', '--log', 'silent'];
  const mock = spawn(process.execPath, [join(root, 'bin/ib-conformance.mjs'), ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let url = '';
  before(async () => {
    url = (await waitForLine(mock)).line.replace('listening on ', '');
  });
  after(() => mock.kill());

  for (const { name, tool, command } of clients)
    test(name, async (t) => {
      if (!exists(tool)) return skipWithout(t, tool[0]);
      const client = spawn(command[0], [command[1], url]);
      t.after(() => client.kill());
      const complaints = textOf(client.stderr);
      const answers = createInterface(client.stdout)[Symbol.asyncIterator]();
      const ask = async (path: string, key = `northwind-key~${name}`, body = '') => {
        client.stdin.write(`${path} ${key} ${body}\n`);
        const { value = await complaints } = await answers.next();
        return value.trim();
      };
      /** Moves the clock, instead of a sleep. */
      const move = async (how: 'set' | 'advance', body: object) =>
        assert.match(await ask(`/__admin/clock/${how}?world=${name}`, 'none', JSON.stringify(body)), / 200$/);

      await move('set', { now: NOON });
      assert.equal(await ask(member), '{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"} 200');
      assert.equal(
        await ask(deposit('44444444-4444-4444-8444-444444444444')),
        '{"status":"EXECUTED","amountInUsd":250.5,"executedAt":1705314600000} 200',
      );
      assert.equal(await ask(user('x')), '{"error":"Invalid user_id format"} 400');
      assert.equal(await ask(deposit('00000000-0000-4000-8000-000000000000')), notFound);
      assert.equal(await ask(member, 'nope'), '{"error":"Unauthorized"} 401');
      for (let count = 0; count < 59; count++) assert.equal(await ask(nobody), notMember);
      assert.equal(await ask(nobody), '{"error":"Too many failed lookups. Please try again later."} 429 3');
      await move('advance', { seconds: 3 });
      assert.equal(await ask(nobody), notMember);
      for (let polls = 0; polls < 3; polls++) {
        assert.equal(await ask(pending), notFound);
        await move('advance', { seconds: 1 });
      }
      const executed = `{"status":"EXECUTED","amountInUsd":75.25,"executedAt":${NOON + 6000}} 200`;
      assert.equal(await ask(pending), executed);
      client.stdin.end();
      assert.equal(await complaints, '');

      const card = await fetch(`${url}/__admin/scorecard?world=${name}`);
      const { rules } = (await card.json()) as { rules: { id: string; outcome: string }[] };
      const outcomes = Object.fromEntries(rules.map(({ id, outcome }) => [id, outcome]));
      assert.equal(outcomes['retry-after'], 'kept');
      assert.equal(outcomes['polling'], 'kept');
      assert.ok(!rules.some(({ outcome }) => outcome === 'broken'), JSON.stringify(rules));
    });

  test('openapi-fetch, with types generated from the OpenAPI document', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'ib-conformance-client-'));
    t.after(() => rm(folder, { recursive: true }));
    const inFolder = (command: string, ...argv: readonly string[]) => run(command, argv, { cwd: folder });
    const tool = (name: string) => join(folder, 'node_modules/.bin', name);
    await cp(here('openapi-fetch.ts'), join(folder, 'client.mts'));
    // In a separate folder, because the generator needs another version of TypeScript.
    const packages = 'openapi-fetch@0.17.0 openapi-typescript@7.13.0 typescript@5.9.3 @types/node@20';
    const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
    await inFolder('npm', ...install, ...packages.split(' '));
    const schema = join(root, 'schemas/openapi.json');
    await inFolder(tool('openapi-typescript'), schema, '--output', 'interface.ts');
    const options =
      '--strict --target es2022 --module nodenext --types node --rewriteRelativeImportExtensions';
    await inFolder(tool('tsc'), ...options.split(' '), 'client.mts');
    const { stdout, stderr } = await inFolder(process.execPath, 'client.mjs', url);
    assert.deepEqual([stdout, stderr], [expectedOfOpenapiFetch, '']);
  });
});
