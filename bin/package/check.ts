/** Holds the packed and installed package to what it promises (`npm run test:package`). */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Fixture } from '../../schemas/generated/types.ts';
import { begun, ended } from '../child-process.ts';
import type { Kill } from '../kill-matrix.ts';
import type { Share } from '../self-test.ts';
import { suite, typedUse, use } from './consumers.ts';
import { install } from './installed.ts';
import { output, root } from '../dev/paths.ts';

const run = promisify(execFile);
const { folder, tarball, command } = await install();
const inFolder = { cwd: folder };
const ours = (argv: readonly string[]) => run(command, [...argv], inFolder);
const tool = (name: string, argv: readonly string[], cwd = folder) =>
  run(join(root, 'node_modules/.bin', name), [...argv], { cwd });

function fileOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

after(() => rm(folder, { recursive: true }));

describe('the installed package', { concurrency: 4 }, () => {
  test("self-test's thread works out its share: of one fault, for npm test holds the others", async () => {
    const built = join(folder, 'node_modules/ib-conformance');
    const fixture = JSON.parse(readFileSync(join(built, 'schemas/built-in.fixture.json'), 'utf8')) as Fixture;
    const workerData: Share = { fixture, seed: 1, from: 0, step: 1_000_000 };
    const worker = new Worker(join(built, 'dist/self-test-worker.mjs'), { workerData });
    const [kills] = (await once(worker, 'message')) as [readonly Kill[]];
    assert.equal(kills.length, 1);
    assert.deepEqual(kills[0]!.failed, kills[0]!.expected);
  });

  test('holds the bundle, its declarations, the schemas, and nothing else; it installs nothing else', async () => {
    const { stdout } = await run('tar', ['-tzf', tarball]);
    const others = stdout
      .trim()
      .split('\n')
      .map((file) => file.replace('package/', ''))
      .filter(
        (file) =>
          !/^(?:dist\/[\w-]+\.mjs|dist\/types\/.+\.d\.ts|schemas\/[\w.-]+\.json)$/.test(file) &&
          ![
            'LICENSE',
            'README.md',
            'package.json',
            'bin/ib-conformance.mjs',
            'dist/THIRD-PARTY-LICENSES.txt',
            // What the admin API serves to people.
            'dist/mock/page/generated/page.html',
            // What completion prints, and what it knows of the catalogue.
            'dist/bin/completion/ib-conformance.bash',
            'dist/bin/completion/ib-conformance.fish',
            'dist/bin/completion/ib-conformance.zsh',
            'dist/suites/catalogue.snapshot.json',
          ].includes(file),
      );
    assert.deepEqual(others, []);
    const installed = readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'));
    assert.deepEqual(installed, ['ib-conformance']);
  });

  test('passes on the licences of what it holds', () => {
    const text = readFileSync(
      join(folder, 'node_modules/ib-conformance/dist/THIRD-PARTY-LICENSES.txt'),
      'utf8',
    );
    for (const name of ['fast-check', 'polka', 'undici', 'yargs'])
      assert.match(text, new RegExp(`^${name} \\d`, 'm'));
  });

  test('leaves nothing in the checkout that could go stale', () => assert.ok(!existsSync(output)));

  test('publint finds nothing', async () => {
    assert.match((await tool('publint', ['--strict', tarball])).stdout, /All good/);
  });

  test('the types are not wrong', async () => {
    await tool('attw', [tarball, '--profile', 'esm-only']);
  });

  for (const argv of [
    ['--help'],
    ['verify', '--help'],
    ['mock', '--help'],
    ['--version'],
    ['requirements'],
    ['completion', 'zsh'],
    ['__complete', 'verify', '--only', ''],
  ])
    test(`${argv.join(' ')} says what the sources say`, async () => {
      const source = await run(process.execPath, [join(root, 'bin/ib-conformance.mjs'), ...argv], inFolder);
      assert.equal((await ours(argv)).stdout, source.stdout);
    });

  test('verify verifies the mock', async () => {
    assert.match((await ours(['verify', '--seed', '1'])).stdout, /^conformant: /m);
  });

  test('mock says where it listens, answers, and ends when asked to', async () => {
    const mock = spawn(command, ['mock', '--port', '0'], inFolder);
    const [line] = (await once(createInterface(mock.stdout), 'line')) as [string];
    const url = line.replace('listening on ', '');
    const { stdout } = await run('curl', [
      '-s',
      '-H',
      'Authorization: Bearer northwind-key',
      `${url}/api/ib/user-status?user_id=11111111-1111-4111-8111-111111111111`,
    ]);
    assert.match(stdout, /"is_under_ib":true/);
    mock.kill('SIGTERM');
    assert.deepEqual(await once(mock, 'exit'), [0, null]);
  });

  test('what is updated in the middle of a run does not take the verdict with it', async () => {
    const going = join(folder, 'going');
    await cp(join(folder, 'node_modules'), join(going, 'node_modules'), {
      recursive: true,
      verbatimSymlinks: true,
    });
    const fault = 'date-day-and-month-swapped';
    const mock = spawn(command, ['mock', '--port', '0', '--fault', fault], inFolder);
    const url = (await begun(mock)).line.replace('listening on ', '');
    const only = 'valid/user-status/date-joined';
    const argv = ['verify', url, '--only', only, '--no-canary', '--rate', '5'];
    const verifying = spawn(join(going, 'node_modules/.bin/ib-conformance'), argv, { cwd: going });
    const ending = ended(verifying);
    // The plan is printed before the first request, and everything that a run needs is loaded then.
    await once(verifying.stderr, 'data');
    rmSync(join(going, 'node_modules/ib-conformance/dist'), { recursive: true });
    const { code, printed } = await ending;
    assert.equal(code, 1);
    assert.match(printed, new RegExp(`^failed: ${only}$`, 'm'));
    mock.kill('SIGTERM');
    await once(mock, 'exit');
  });

  test('mock lists its faults and its variants', async () => {
    assert.match((await ours(['mock', '--fault', 'list'])).stdout, /amount-in-cents/);
    assert.match((await ours(['mock', '--variant', 'list'])).stdout, /\w/);
  });

  test('fixture check accepts the built-in fixture, and says where a broken one is broken', async () => {
    const builtIn = 'node_modules/ib-conformance/schemas/built-in.fixture.json';
    assert.match((await ours(['fixture', 'check', builtIn])).stdout, /: good: /);
    const broken = fileOf('broken.json', '{\n  "users": [}');
    await assert.rejects(ours(['fixture', 'check', broken]), /broken\.json:2:13: is not JSON/);
  });

  test('every entry can be imported from JavaScript', async () => {
    const { stdout } = await run(process.execPath, [fileOf('use.js', use)], inFolder);
    assert.match(stdout, /conformant/);
  });

  test('every entry can be imported from strict TypeScript', async () => {
    fileOf('typed-use.ts', typedUse);
    fileOf(
      'tsconfig.json',
      JSON.stringify({
        compilerOptions: {
          target: 'es2023',
          module: 'nodenext',
          strict: true,
          exactOptionalPropertyTypes: true,
          noEmit: true,
          resolveJsonModule: true,
          skipLibCheck: false,
          types: ['node'],
          typeRoots: [join(root, 'node_modules/@types')],
          lib: ['es2023'],
        },
        files: ['typed-use.ts'],
      }),
    );
    await tool('tsc', ['--project', '.']).catch((error: { readonly stdout: string }) =>
      assert.fail(error.stdout),
    );
  });

  test('conformance() registers its tests with node:test', async () => {
    // The outer test runner marks its children in the environment; this one is to run on its own.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const argv = ['--test', '--test-reporter', 'tap', fileOf('conformance.test.js', suite)];
    const { stdout } = await run(process.execPath, argv, { cwd: folder, env });
    assert.match(stdout, /ok \d+ - valid\/user-status\/member: /);
  });
});
