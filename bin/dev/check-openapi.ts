/** Specmatic asks a mock for the examples of the OpenAPI document (`npm test openapi`). It needs Java. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startMock } from '../../mock/index.ts';
import description from '../../schemas/openapi.json' with { type: 'json' };
import { root } from './paths.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';
import { skipWithout } from './skip-without.ts';

const specmatic = ['--yes', '--package', 'specmatic@2.55.1', 'specmatic', 'test'] as const;

const { folder } = temporaryFolder();

test('a mock answers each example of a lookup as the OpenAPI document says', async (t) => {
  if (spawnSync('java', ['-version']).status !== 0) return skipWithout(t, 'java');
  const mock = await startMock({ port: 0 });
  t.after(() => mock.close());
  const examples = Object.values(description.paths).flatMap(({ get }) =>
    Object.keys(get.parameters[0]!.examples),
  );
  const argv = [
    ...specmatic,
    join(root, 'schemas/openapi.json'),
    '--testBaseURL',
    mock.url.replace(/\/$/, ''),
  ];
  const { stdout } = await promisify(execFile)('npx', argv, {
    // It writes its reports there.
    cwd: folder,
    env: { ...process.env, apiKey: 'northwind-key' },
  }).catch(({ stdout: printed }: { readonly stdout: string }) => assert.fail(printed));
  assert.match(
    stdout,
    new RegExp(`Tests run: ${examples.length}, Successes: ${examples.length}, Failures: 0`),
  );
});
