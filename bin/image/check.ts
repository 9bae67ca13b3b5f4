/**
 * Holds the Dockerfile, the example for compose and the page on containers to what they promise, without an engine
 * (`npm run test:image`): the stages are carried out on files of this machine, and every command runs as the first
 * process of a root of its own.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chownSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { exitCodes } from '../exit-codes.ts';
import { build } from './build.ts';
import { checkPage } from './check-page.ts';
import { ended } from '../child-process.ts';
import { containersOf } from './containers.ts';
import { configOf, dockerfile, stagesOf } from './dockerfile.ts';
import { firstProcess, lacks } from './sandbox.ts';

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

  const containers = containersOf(config, () => root);
  const { sandbox, container, listening, healthOf } = containers;

  test('holds the package and its command beside node, and nothing of npm', () => {
    assert.deepEqual(readdirSync(join(root, 'usr/local/bin')).toSorted(), ['ib-conformance']);
    assert.deepEqual(readdirSync(join(root, 'usr/local/lib/node_modules')), ['ib-conformance']);
    assert.deepEqual(readdirSync(root).toSorted(), ['usr', 'work']);
    const files = readdirSync(join(root, 'usr/local/lib/node_modules/ib-conformance')).toSorted();
    assert.deepEqual(files, ['LICENSE', 'README.md', 'bin', 'dist', 'package.json', 'schemas']);
  });

  checkPage(config, containers);

  test('is not healthy where nothing listens', async (t) => {
    const { code, complaint } = await ended(container(t, sandbox(), config.health.slice(1)));
    assert.equal(code, 1);
    assert.match(complaint, /is not healthy: ECONNREFUSED/);
  });

  test('listens, is healthy, and ends in order when it is told to', async (t) => {
    const { child, first } = await listening(t, sandbox());
    assert.deepEqual(await healthOf(first, sandbox()), { code: 0, printed: '', complaint: '' });
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
});

/** Every file and folder, with its size and the time of its last change. */
function everythingIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((path) => {
      const { size, mtimeMs } = lstatSync(join(folder, path));
      return `${path} ${size} ${mtimeMs}`;
    });
}
