/** Builds the container image with Buildah, which needs root but no daemon, and uses it (`npm test image`). */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { waitForExit } from '../testing/child-process.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { builtInFixture, root } from '../paths.ts';

const run = promisify(execFile);
const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
const storage = join(cache, 'ib-conformance/containers');
const withStorage = ['--storage-driver', 'vfs', '--root', storage];
const buildah = async (...argv: readonly string[]) =>
  (await run('buildah', [...withStorage, ...argv], { maxBuffer: 2 ** 26 })).stdout.trim();
const succeeds = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => false,
  );

/** Returns the base of the Dockerfile, or one made of packages where no registry has it. The storage keeps both. */
async function chooseBase(): Promise<string> {
  const [, name = ''] = /^ARG BASE=(.*)$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))!;
  const made = 'localhost/ib-conformance-base:24';
  for (const one of [name, made]) if (await succeeds(buildah('inspect', '--type', 'image', one))) return one;
  if (await succeeds(buildah('pull', name))) return name;
  await run(join(import.meta.dirname, 'make-base'), [storage, made]);
  return made;
}

interface Config {
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Healthcheck: { readonly Test: readonly string[] };
}

const image = `localhost/ib-conformance-test:${process.pid}`;
let container = '';
let config: Config;

const commandLine = (flags: readonly string[], command: readonly string[]) =>
  [...withStorage, 'run', '--isolation', 'chroot', ...flags, container, '--', ...command] as const;
const runInside = (command: readonly string[], flags: readonly string[] = []) =>
  waitForExit(spawn('buildah', commandLine(flags, command)));
const verifyMock = (...argv: readonly string[]) => [...config.Entrypoint, 'verify', 'mock', ...argv];
const isHealthy = async (port: string, ...variables: readonly string[]) => {
  const flags = [`IB_CONFORMANCE_PORT=${port}`, ...variables].flatMap((one) => ['--env', one]);
  return (await runInside(config.Healthcheck.Test.slice(1), flags)).code === 0;
};

/** Starts its program on a free port, by default with its default command. */
async function start(t: TestContext, command = config.Cmd, ...flags: readonly string[]) {
  const script = ['sh', '-c', 'echo $$; exec "$@"', 'sh', ...config.Entrypoint, ...command];
  const argv = commandLine(['--env', 'IB_CONFORMANCE_PORT=0', ...flags], script);
  const child = spawn('buildah', argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill());
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const pid = Number((await lines.next()).value);
  const [, port = ''] = /^listening on http:\/\/0\.0\.0\.0:(\d+)$/.exec((await lines.next()).value ?? '')!;
  /** Ends it as engines do. Returns its exit code. Fails after a second. */
  const stop = async () => {
    process.kill(pid, 'SIGTERM');
    const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(1000) });
    return code as number;
  };
  return { port, stop };
}

describe('the image', { concurrency: 1 }, () => {
  before(async () => {
    const argv = ['--isolation', 'chroot', '--format', 'docker', '--build-arg', `BASE=${await chooseBase()}`];
    await buildah('build', ...argv, '--tag', image, root);
    const inspected = await buildah('inspect', '--type', 'image', image);
    ({ config } = (JSON.parse(inspected) as { readonly Docker: { readonly config: Config } }).Docker);
    container = await buildah('from', '--pull-never', image);
  });
  after(async () => {
    if (container !== '') await buildah('rm', container);
    await buildah('rmi', image);
  });

  test('is not run by root', async () => {
    assert.equal((await runInside(['id', '-u'])).stdout, '1000\n');
  });

  test('verify mock is conformant', async () => {
    const { code, stdout } = await runInside(verifyMock());
    assert.match(stdout, /^conformant: /m);
    assert.equal(code, 0);
  });

  test('mock answers, is healthy in spite of a proxy, and ends on SIGTERM', async (t) => {
    const { port, stop } = await start(t);
    assert.equal((await fetch(`http://127.0.0.1:${port}/api/ib/user-status?user_id=x`)).status, 401);
    assert.ok(await isHealthy(port));
    const proxy = 'http://127.0.0.1:9';
    assert.ok(await isHealthy(port, `HTTP_PROXY=${proxy}`, `http_proxy=${proxy}`, 'NODE_USE_ENV_PROXY=1'));
    assert.equal(await stop(), 0);
    assert.ok(!(await isHealthy(port)), 'also the health of verify, which has no port');
  });

  test('mock serves a mounted fixture, and is healthy without the admin API', async (t) => {
    const { folder, fileOf } = temporaryFolder(t);
    chmodSync(folder, 0o755);
    fileOf('fixture.json', readFileSync(builtInFixture, 'utf8').replaceAll('northwind-key', 'mounted-key'));
    const command = [...config.Cmd, '--no-admin', '--fixture', 'fixture.json'];
    const { port, stop } = await start(t, command, '--volume', `${folder}:/work:ro`);
    const lookup = `http://127.0.0.1:${port}/api/ib/user-status?user_id=11111111-1111-4111-8111-111111111111`;
    assert.equal((await fetch(lookup, { headers: { authorization: 'Bearer mounted-key' } })).status, 200);
    assert.ok(await isHealthy(port));
    assert.equal(await stop(), 0);
  });

  test('verify writes a report into a mounted folder, as the user who owns it', async (t) => {
    const { folder, place } = temporaryFolder(t);
    const user = 12_345;
    chownSync(folder, user, user);
    const flags = ['--volume', `${folder}:/work`, '--user', `${user}:${user}`];
    const argv = verifyMock(
      '--only',
      'valid/user-status/member',
      '--allow-incomplete',
      '--report',
      'junit=junit.xml',
    );
    assert.equal((await runInside(argv, flags)).code, 0);
    assert.match(readFileSync(place('junit.xml'), 'utf8'), /<testsuites /);
  });
});
