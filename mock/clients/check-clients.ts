/**
 * Clients that are not ours, against the mock as a process: valid, invalid, limited and polling flows,
 * in a world for each. `npm run test:clients` runs it; a client whose tool is missing is skipped aloud.
 */
import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';

const here = (file: string) => join(import.meta.dirname, file);
const clients = [
  { name: 'curl', tool: ['curl', '--version'], command: ['bash', here('curl.sh')] },
  { name: 'urllib', tool: ['python3', '--version'], command: ['python3', here('urllib_client.py')] },
  { name: 'HttpClient', tool: ['java', '--version'], command: ['java', here('JavaClient.java')] },
  { name: 'undici', tool: [process.execPath, '--version'], command: [process.execPath, here('undici.mjs')] },
] as const;

const NOT_A_MEMBER = '{"is_under_ib":false,"date_joined":null}';

/** What the clock of each world shows at first; clients move it on by 3 s of Retry-After and 3 polls. */
const NOON = Date.UTC(2026, 0, 1, 12);

/** What each client prints: what it asked for, and what it was answered. */
const expected = `\
valid user-status 200 {"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}
valid deposit-check 200 {"status":"EXECUTED","amountInUsd":250.5,"executedAt":1705314600000}
invalid user-status 400 {"error":"Invalid user_id format"}
invalid deposit-check 404 {"error":"Deposit not found"}
invalid key 401 {"error":"Unauthorized"}
limited after 59: 429 3 {"error":"Too many failed lookups. Please try again later."}
limited no more: 200 ${NOT_A_MEMBER}
polling 404 404 404 200 {"status":"EXECUTED","amountInUsd":75.25,"executedAt":${NOON + 6000}}
`;

const run = promisify(execFile);
const cli = join(import.meta.dirname, '../../bin/ib-conformance.mjs');
const isThere = ([tool, ...args]: readonly [string, ...string[]]) => spawnSync(tool, args).status === 0;

describe('clients that are not ours', () => {
  const flags = ['mock', '--port', '0', '--clock', 'frozen', '--log', 'silent'];
  const mock = spawn(process.execPath, [cli, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  let url = '';
  before(async () => {
    const [line] = (await once(createInterface(mock.stdout), 'line')) as [string];
    url = line.replace('listening on ', '');
  });
  after(() => mock.kill());

  for (const { name, tool, command } of clients)
    test(name, async (t) => {
      if (!isThere(tool)) {
        process.stderr.write(`\n!!! NOT CHECKED: ${name}, for there is no ${tool[0]} on this machine\n\n`);
        return t.skip(`there is no ${tool[0]}`);
      }
      const noon = await fetch(`${url}/__admin/clock/set?world=${name}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ now: NOON }),
      });
      assert.equal(noon.status, 200);
      const [program, file] = command;
      const { stdout, stderr } = await run(program, [file, url, `northwind-key~${name}`, name]);
      assert.deepEqual([stdout, stderr], [expected, '']);
      // The mock is of the same opinion.
      const card = await fetch(`${url}/__admin/scorecard?world=${name}`);
      const { rules } = (await card.json()) as { rules: { id: string; outcome: string }[] };
      const outcomes = Object.fromEntries(rules.map(({ id, outcome }) => [id, outcome]));
      assert.equal(outcomes['retry-after'], 'kept');
      assert.equal(outcomes['polling'], 'kept');
      assert.ok(!rules.some(({ outcome }) => outcome === 'broken'), JSON.stringify(rules));
    });
});
