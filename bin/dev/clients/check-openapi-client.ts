/**
 * Compiles a client with types generated from the OpenAPI document, and runs it against the mock as a process
 * (`npm run test:clients`).
 */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { waitForLine } from '../../testing/child-process.ts';
import { root } from '../paths.ts';

const expected = `\
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

test('openapi-fetch, with types generated from the OpenAPI document', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'ib-conformance-client-'));
  t.after(() => rm(folder, { recursive: true }));
  const run = (command: string, ...argv: readonly string[]) =>
    promisify(execFile)(command, argv, { cwd: folder });
  const tool = (name: string) => join(folder, 'node_modules/.bin', name);
  await cp(join(import.meta.dirname, 'openapi-fetch.ts'), join(folder, 'client.mts'));
  // In a separate folder, because the generator needs another version of TypeScript.
  const packages = 'openapi-fetch@0.17.0 openapi-typescript@7.13.0 typescript@5.9.3 @types/node@20';
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  await run('npm', ...install, ...packages.split(' '));
  await run(tool('openapi-typescript'), join(root, 'schemas/openapi.json'), '--output', 'interface.ts');
  const options = '--strict --target es2022 --module nodenext --types node --rewriteRelativeImportExtensions';
  await run(tool('tsc'), ...options.split(' '), 'client.mts');
  const flags = ['mock', '--port', '0', '--log', 'silent'];
  const mock = spawn(process.execPath, [join(root, 'bin/ib-conformance.mjs'), ...flags]);
  t.after(() => mock.kill());
  const url = (await waitForLine(mock)).line.replace('listening on ', '');
  const { stdout, stderr } = await run(process.execPath, 'client.mjs', url);
  assert.deepEqual([stdout, stderr], [expected, '']);
});
