/** Tests the packed and installed package (`npm test package`). */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { waitForExit, waitForLine } from '../testing/child-process.ts';
import { runCli } from '../testing/run-cli.ts';
import { root } from '../paths.ts';
import { version } from '../../version.ts';
import { bundle, bundlePage } from './bundle.ts';
import { commonJsConsumer, consumer, OUTPUT, strictTypes } from './consumers.ts';
import { install } from './install.ts';
import { checkWithTools } from './tool-checks.ts';

const run = promisify(execFile);
const { folder, tarball, command } = await install();
const installed = join(folder, 'node_modules/ib-conformance');
const inFolder = { cwd: folder };
const cli = (...argv: readonly string[]) => run(command, [...argv], inFolder);

async function write(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return name;
}

after(() => rm(folder, { recursive: true }));

/** The content of the package does not depend on the version of Node, so `.ci/run` tests it once. */
const hasAllChecks = process.env['ONLY_RUN'] !== '1';

if (hasAllChecks)
  describe('the package', { concurrency: 2 }, () => {
    test('contains the bundle, declarations and schemas, and has no dependencies', async () => {
      const { stdout } = await run('tar', ['-tzf', tarball]);
      const expected = [
        /^package\/(?:LICENSE|(?:README|CHANGELOG|CONTRIBUTING)\.md|package\.json|bin\/ib-conformance\.mjs)$/,
        /^package\/dist\/(?:[\w.-]+\.[cm]js|types\/.+\.d\.c?ts|THIRD-PARTY-LICENSES\.txt|bom\.cdx\.json)$/,
        /^package\/docs\/.+\.md$/,
        /^package\/schemas\/(?:[\w.-]+\.json|interface\.md)$/,
      ];
      for (const file of stdout.trim().split('\n'))
        assert.ok(
          expected.some((pattern) => pattern.test(file)),
          file,
        );
      const packages = await readdir(join(folder, 'node_modules'));
      assert.deepEqual(packages.filter((name) => !name.startsWith('.')).join(), 'ib-conformance');
    });

    test('contains every page and file that its pages link to, except sources', async () => {
      const all = await readdir(installed, { recursive: true });
      const pages = all.filter((file) => file.endsWith('.md'));
      assert.ok(pages.includes('README.md') && pages.length > 15);
      for (const page of pages) {
        const links = (await readFile(join(installed, page), 'utf8')).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g);
        for (const [, link = ''] of links) {
          const file = join(dirname(page), link);
          assert.ok(all.includes(file) || /^(?:mock|suites)\/|\.png$/.test(file), `${page} links to ${file}`);
        }
      }
    });

    test('contains the licences of third-party code', async () => {
      const text = await readFile(join(installed, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
      for (const name of ['fast-check', 'polka', 'undici', 'yargs', 'preact'])
        assert.match(text, new RegExp(`^${name} \\d`, 'm'));
      // undici contains the code of these.
      for (const name of ['llhttp', 'fetch-blob', 'undici-fetch', 'formdata-polyfill'])
        assert.match(text, new RegExp(`^${name} \\(MIT\\)\n[^-]*^Copyright`, 'm'));
    });

    test('lists what is in the bundles and in the page', async () => {
      const inputs = [(await bundlePage()).metafile.inputs];
      for (const name of ['esm', 'cjs', 'undici'] as const)
        inputs.push((await bundle(name, join(folder, 'bundled/'))).inputs);
      const files = inputs.flatMap((one) => Object.keys(one)).join('\n');
      const names = new Set(
        [...files.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)\//g)].map(([, name]) => name),
      );
      const { components } = JSON.parse(await readFile(join(installed, 'dist/bom.cdx.json'), 'utf8')) as {
        readonly components: readonly Readonly<Record<'name' | 'purl', string>>[];
      };
      const listed = components.flatMap(({ name, purl }) => (purl === undefined ? [] : [name]));
      assert.deepEqual(new Set(listed), names);
      const { stdout } = await run('tar', ['-tzvf', tarball]);
      assert.ok((await stat(tarball)).size <= 900_000, stdout);
    });
  });

if (hasAllChecks)
  test('the commit of a release runs without an installation, and npm installs it from git', async () => {
    const clone = join(folder, 'clone');
    await run('git', ['clone', '--quiet', '--shared', root, clone]);
    await symlink(join(root, 'node_modules'), join(clone, 'node_modules'));
    const changes = await readFile(join(clone, 'CHANGELOG.md'), 'utf8');
    await writeFile(
      join(clone, 'CHANGELOG.md'),
      changes.replace('## [Unreleased]', `## [${version}] - today`),
    );
    await run('git', ['config', 'user.name', 'tester'], { cwd: clone });
    await run('git', ['config', 'user.email', 'tester@localhost'], { cwd: clone });
    const out = await mkdtemp(join(folder, 'release-'));
    await run('.ci/release', [version, 'https://github.com/OWNER/ib-conformance', out], { cwd: clone });
    assert.match(await readFile(join(out, 'notes.md'), 'utf8'), /^## \[.*\n[^]*^### Added$/m);
    await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: out });
    await unlink(join(clone, 'node_modules'));
    await writeFile(join(out, 'package.json'), '{ "private": true }\n');
    const argv = ['install', '--no-audit', '--no-fund', '--offline', `git+file://${clone}#v${version}`];
    await run('npm', argv, { cwd: out });
    for (const place of [clone, join(out, 'node_modules/ib-conformance')])
      assert.match(
        (await run(join(place, 'bin/ib-conformance.mjs'), ['verify', 'mock'])).stdout,
        /^conformant: /m,
      );
  });

describe('the installed program', { concurrency: 4 }, () => {
  for (const argv of [['--help'], ['verify', '--help'], ['--version'], ['requirements']])
    test(`${argv.join(' ')} prints the same as the sources`, async () => {
      assert.equal((await cli(...argv)).stdout, (await runCli(argv)).output);
    });

  test('verify passes the mock and fails a mock with a fault', async () => {
    assert.match((await cli('verify', 'mock', '--seed', '1')).stdout, /^conformant: /m);
    const mock = spawn(command, ['mock', '--port', '0', '--fault', 'revoked-key-on-user-status'], inFolder);
    const url = (await waitForLine(mock)).line.replace('listening on ', '');
    await assert.rejects(cli('verify', url, '--only', 'auth', '--cases', '100'), {
      code: 1,
      stdout: /^ {2}id +auth\/user-status\/revoked$/m,
    });
    mock.kill('SIGTERM');
    await once(mock, 'exit');
  });

  test('mock prints its URL, answers, serves its page and exits on SIGTERM', async () => {
    const mock = spawn(command, ['mock', '--port', '0'], inFolder);
    const { line } = await waitForLine(mock);
    const url = line.replace('listening on ', '');
    const lookup = `${url}/api/ib/user-status?user_id=11111111-1111-4111-8111-111111111111`;
    const answer = await fetch(lookup, { headers: { authorization: 'Bearer northwind-key' } });
    assert.match(await answer.text(), /"is_under_ib":true/);
    assert.match(await (await fetch(`${url}/__admin/`)).text(), /<html/);
    mock.kill('SIGTERM');
    assert.deepEqual(await once(mock, 'exit'), [0, null]);
  });

  test('a package that is updated during a run still reports the verdict', async () => {
    const updated = join(folder, 'updated');
    await cp(join(folder, 'node_modules'), join(updated, 'node_modules'), {
      recursive: true,
      verbatimSymlinks: true,
    });
    const mock = spawn(command, ['mock', '--port', '0', '--fault', 'date-day-and-month-swapped'], inFolder);
    const url = (await waitForLine(mock)).line.replace('listening on ', '');
    const only = 'valid/user-status/date-joined';
    const argv = ['verify', url, '--only', only, '--rate', '20', '--cases', '100'];
    const verify = spawn(join(updated, 'node_modules/.bin/ib-conformance'), argv, { cwd: updated });
    const ending = waitForExit(verify);
    // At its first lookup, the run has loaded all modules.
    for (let printed = ''; !printed.includes(' GET ');) printed += String(await once(mock.stdout, 'data'));
    await rm(join(updated, 'node_modules/ib-conformance/dist'), { recursive: true });
    const { code, stdout } = await ending;
    mock.kill('SIGTERM');
    await once(mock, 'exit');
    assert.equal(code, 1, stdout);
    assert.match(stdout, new RegExp(`^ {2}id +${only}$`, 'm'));
  });

  test('a fixture is validated, and a syntax error has its place', async () => {
    const builtIn = 'node_modules/ib-conformance/schemas/built-in.fixture.json';
    assert.match((await cli('fixture', '--from', builtIn, '--format', 'sql')).stdout, /^INSERT INTO users /m);
    const broken = await write('broken.json', '{\n  "users": [}');
    await assert.rejects(cli('verify', 'mock', '--fixture', broken), /broken\.json:2:13: is not JSON/);
  });
});

describe('the installed modules', { concurrency: 4 }, () => {
  test('CommonJS can require every entry point', async () => {
    await write('consumer.cjs', commonJsConsumer);
    assert.equal((await run(process.execPath, ['consumer.cjs'], inFolder)).stdout, OUTPUT);
  });

  test('every entry point works as typed', async () => {
    const compilerOptions = { ...strictTypes, module: 'nodenext' };
    const files = [await write('consumer.test.ts', consumer)];
    await write('tsconfig.json', JSON.stringify({ compilerOptions, files }));
    const tsc = join(root, 'node_modules/.bin/tsc');
    await run(tsc, ['--project', '.'], inFolder).catch((error: { readonly stdout: string }) =>
      assert.fail(error.stdout),
    );
    // The inner test runner must not run as a child of the outer one.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const argv = ['--test', '--test-reporter', 'tap', 'consumer.test.js'];
    const { stdout } = await run(process.execPath, argv, { cwd: folder, env });
    assert.match(stdout, /ok \d+ - valid\/user-status\/member: /);
  });
});

// Last: the tools are installed during the tests above.
if (hasAllChecks) checkWithTools(tarball);
