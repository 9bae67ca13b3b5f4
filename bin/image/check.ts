/**
 * Holds the Dockerfile and the example for compose to what they promise, without an engine (`npm run test:image`): the
 * stages are carried out on files of this machine, and every command runs as the first process of a root of its own.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { after, before, describe, test, type TestContext } from 'node:test';
import { exitCodes } from '../exit-codes.ts';
import { build, runtime } from './build.ts';
import { example } from './compose.ts';
import { configOf, dockerfile, stagesOf } from './dockerfile.ts';
import { end, firstProcess, lacks, start, startBeside, startInNetwork, type Sandbox } from './sandbox.ts';

const why = lacks();
if (why !== undefined)
  process.stderr.write(`
  ###########################################################################
  #  NOT TESTED: the image. No root of its own can be made here:
  #  ${why}.
  ###########################################################################
`);

const stages = stagesOf(dockerfile);
const config = configOf(stages.at(-1)!);
const [uid, gid] = config.user.split(':').map(Number) as [number, number];

describe('the image', { skip: why !== undefined, timeout: 300_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-image-'));
  let root = '';
  before(async () => {
    root = await build(stages, folder);
  });
  after(() => rm(folder, { recursive: true }));

  const sandbox = (more: Partial<Sandbox> = {}): Sandbox => ({
    root,
    isReadOnly: true,
    mounts: runtime(),
    user: config.user,
    folder: config.folder,
    // No HOME, and nothing else that an engine might leave out.
    env: { PATH: '/usr/local/bin:/usr/bin' },
    network: 'own',
    ...more,
  });

  /** The image with a command of its own, or with what stands behind its name. */
  function container(t: TestContext, one: Sandbox, command = config.command): ChildProcess {
    const child = start(one, [...config.entrypoint, ...command]);
    t.after(() => end(child));
    return child;
  }

  /** A mock that listens, and the id of its process. */
  async function listening(t: TestContext, one: Sandbox, command = config.command) {
    const child = container(t, one, command);
    const complaint = text(child.stderr!);
    const lines = createInterface(child.stdout!);
    const line = await Promise.race([
      once(lines, 'line').then(([first]) => String(first)),
      once(child, 'exit').then(async () => assert.fail(await complaint)),
    ]);
    assert.match(line, /^listening on http:\/\/0\.0\.0\.0:4010$/);
    return { child, complaint, first: firstProcess(child) };
  }

  const healthOf = (first: number, one = sandbox()) => ended(startBeside(first, one, config.health));

  test('holds the package and its command beside node, and nothing of npm', () => {
    assert.deepEqual(readdirSync(join(root, 'usr/local/bin')).toSorted(), ['ib-conformance']);
    assert.deepEqual(readdirSync(join(root, 'usr/local/lib/node_modules')), ['ib-conformance']);
    assert.deepEqual(readdirSync(root).toSorted(), ['usr', 'work']);
  });

  test('is not healthy where nothing listens', async (t) => {
    const { code, complaint } = await ended(container(t, sandbox(), config.health.slice(1)));
    assert.equal(code, 1);
    assert.match(complaint, /is not healthy: ECONNREFUSED/);
  });

  test('listens, is healthy, and ends in order when it is told to', async (t) => {
    const { child, first } = await listening(t, sandbox());
    assert.deepEqual(await healthOf(first), { code: 0, printed: '', complaint: '' });
    const status = readFileSync(`/proc/${first}/status`, 'utf8');
    const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1]?.split('\t');
    assert.deepEqual(field('Uid'), Array(4).fill(`${uid}`));
    assert.deepEqual(field('Gid'), Array(4).fill(`${gid}`));
    assert.equal(field('NSpid')?.at(-1), '1');
    assert.equal(field('CapEff')?.[0], '0000000000000000');
    assert.equal(field('NoNewPrivs')?.[0], '1');
    assert.equal(readFileSync(`/proc/${first}/task/${first}/children`, 'utf8'), '', 'no child, no zombie');
    process.kill(first, config.stopSignal);
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  test('verify finds the mock of another container conformant', async (t) => {
    const { first } = await listening(t, sandbox());
    const command = ['verify', 'http://127.0.0.1:4010', '--suite', 'valid', '--seed', '1'];
    const { code, printed, complaint } = await ended(container(t, sandbox({ network: first }), command));
    assert.equal(code, 0, complaint);
    assert.match(printed, /^conformant: /m);
  });

  test('verify verifies the mock that it holds', async (t) => {
    const { code, printed, complaint } = await ended(container(t, sandbox(), ['verify', '--seed', '1']));
    assert.equal(code, 0, complaint);
    assert.match(printed, /^conformant: /m);
  });

  test('verify ends with what it found so far when it is told to', async (t) => {
    const { first } = await listening(t, sandbox());
    const command = ['verify', 'http://127.0.0.1:4010', '--rate', '1', '--no-canary'];
    const child = container(t, sandbox({ network: first }), command);
    // What it is about to do is told first; it takes minutes.
    await once(child.stderr!, 'readable');
    process.kill(firstProcess(child), config.stopSignal);
    const { code, printed } = await ended(child);
    assert.equal(code, exitCodes.interrupted[0]);
    assert.match(printed, /interrupted/);
  });

  test('a wrong command line is told as ever', async (t) => {
    const { code } = await ended(container(t, sandbox(), ['moch']));
    assert.equal(code, exitCodes.usage[0]);
  });

  test('writes no file, even where it could', async (t) => {
    const home = join(root, 'home');
    for (const path of ['home', 'tmp', 'work']) {
      mkdirSync(join(root, path), { recursive: true });
      chownSync(join(root, path), uid, gid);
    }
    const open = { isReadOnly: false, env: { ...sandbox().env, HOME: '/home' } };
    const { child, first } = await listening(t, sandbox(open));
    const files = everythingIn(root);
    await healthOf(first, sandbox(open));
    const command = ['verify', 'http://127.0.0.1:4010', '--suite', 'valid', '--seed', '1'];
    assert.equal((await ended(container(t, sandbox({ ...open, network: first }), command))).code, 0);
    process.kill(first, config.stopSignal);
    await once(child, 'exit');
    assert.deepEqual(everythingIn(root), files);
    await rm(home, { recursive: true });
    for (const path of ['tmp', 'work']) chownSync(join(root, path), 0, 0);
  });

  test('puts a report into the folder that is mounted where it works', async (t) => {
    const reports = mkdtempSync(join(folder, 'reports-'));
    chmodSync(reports, 0o700);
    chownSync(reports, uid, gid);
    const mounts = [...runtime(), { from: reports, to: config.folder, isWritable: true }];
    const command = ['verify', '--seed', '1', '--suite', 'valid', '--report', 'json=run.json'];
    const { code, complaint } = await ended(container(t, sandbox({ mounts }), command));
    assert.equal(code, 0, complaint);
    assert.deepEqual(readdirSync(reports), ['run.json']);
    assert.match(readFileSync(join(reports, 'run.json'), 'utf8'), /"verdict":\s*"conformant"/);
  });

  test("serves the fixture of the example, to the partner's program", async (t) => {
    const { mock, partner } = example();
    const { env } = sandbox();
    const one = sandbox({ mounts: [...runtime(), ...mock.mounts], env: { ...env, ...mock.environment } });
    const { child, first } = await listening(t, one, mock.command);
    assert.equal((await healthOf(first, one)).code, 0);
    // The name of the other container is the engine's to find; the program is a shell's, which the image need not have.
    const { environment } = partner;
    const there = { ...process.env, ...environment, IB_BASE_URL: 'http://127.0.0.1:4010', POLL_SECONDS: '0' };
    const script = partner.mounts.find(({ to }) => to === partner.command[1])!.from;
    const program = startInNetwork(first, there, [partner.command[0]!, script]);
    const { code, printed, complaint } = await ended(program);
    assert.equal(code, 0, complaint);
    assert.match(printed, /^executed, seen by poll 4: .*"amountInUsd":250\.5/);
    process.kill(first, config.stopSignal);
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});

/** How a process ended, and all that it said. */
async function ended(child: ChildProcess) {
  const [printed, complaint, [code, signal]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  return { code: code ?? signal, printed, complaint };
}

/** Every file and folder, with its size and the time of its last change. */
function everythingIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((path) => {
      const { size, mtimeMs } = lstatSync(join(folder, path));
      return `${path} ${size} ${mtimeMs}`;
    });
}
