/**
 * Clients that generators make of `schemas/openapi.json`, type-checked and let loose on the mock, by `npm run test:clients`.
 * The generators are installed into a folder of their own: they want another TypeScript than the project's.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { startMock, type Mock } from '../index.ts';
import { builtIn } from '../testing/probes.ts';

const description = join(import.meta.dirname, '../../schemas/openapi.json');

/** How each generator is told to write `generated/<name>.ts`, and the program that uses what it wrote. */
const generators = [
  {
    name: 'openapi-typescript',
    argv: [description, '--output', 'generated/openapi-typescript.ts'],
    program: 'built/with-openapi-fetch.js',
  },
  {
    name: 'swagger-typescript-api',
    argv: [
      'generate',
      '--silent',
      '--disable-throw-on-error',
      '--path',
      description,
      '--output',
      'generated',
      '--name',
      'swagger-typescript-api.ts',
    ],
    program: 'built/with-swagger-typescript-api.js',
  },
] as const;

const expected = `\
member: 200 true 2024-02-29T23:59:59.999Z
foreign: 200 false null
invalid user: 400 Invalid user_id format
revoked: 401 Unauthorized
limited: 429 Too many failed lookups. Please try again later.
executed: 200 EXECUTED 250.50 at 2024-01-15T10:30:00.000Z
pending: 404 Deposit not found
foreign deposit: 404 Deposit not found
invalid deposit: 400 Invalid reference_id format
revoked: 401 UNAUTHORIZED
limited: 429 TOO_MANY_REQUESTS
`;

describe('clients generated from the description', () => {
  let folder = '';
  let mock: Mock | undefined;
  const run = (command: string, argv: readonly string[]) =>
    promisify(execFile)(command, [...argv], { cwd: folder });
  const tool = (name: string, argv: readonly string[]) => run(join(folder, 'node_modules/.bin', name), argv);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ib-conformance-clients-'));
    await cp(join(import.meta.dirname, 'generators'), folder, { recursive: true });
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent']);
    mock = await startMock({ fixture: builtIn, clock: 'frozen' });
  });
  after(async () => {
    await mock?.close();
    await rm(folder, { recursive: true });
  });

  test('are made, and what they promise is what the interface says: they compile', async () => {
    for (const { name, argv } of generators) await tool(name, argv);
    await tool('tsc', []);
  });

  for (const { name, program } of generators)
    test(`${name}: gets every answer of the interface`, async () => {
      const { stdout, stderr } = await run(process.execPath, [program, mock!.url]);
      assert.deepEqual([stdout, stderr], [expected, '']);
    });
});
