import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test, type TestContext } from 'node:test';
import type { RunRecord } from '../schemas/generated/types.ts';
import { serverFor } from '../suites/testing/against.ts';
import { builtInFixture } from './dev/paths.ts';
import { parseReports } from './report-files.ts';
import { waitForExit } from './dev/testing/child-process.ts';
import { packagedProgram } from './dev/testing/packaged.ts';
import { runCli } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

/** Starts a server that answers everything wrongly. Calls `onRequest` for the first request. */
function serve(
  t: TestContext,
  onRequest: () => void,
  answer: RequestListener = (_, response) => void response.end('{}'),
) {
  let isFirst = true;
  const server = createServer((request, response) => {
    if (isFirst) onRequest();
    isFirst = false;
    answer(request, response);
  });
  return serverFor(t, server);
}

const always = ['--fixture', builtInFixture, '--cases', '1', '--only', 'valid'];

const call = (argv: readonly string[]) => runCli(argv, { terminal: { color: true, width: 100 } });

test('every report that cannot be written is reported, with the verdict, and the others are written', async (t) => {
  const { folder } = temporaryFolder(t);
  const missing = join(folder, 'gone');
  mkdirSync(missing);
  const url = await serve(t, () => rmSync(missing, { recursive: true }));
  const kept = join(folder, 'kept.json');
  const reports = [`json=${join(missing, 'a.json')}`, `console=${join(missing, 'b.txt')}`, `json=${kept}`];
  const flags = reports.flatMap((report) => ['--report', report]);
  const { code, stderr } = await call(['verify', url, ...always, ...flags]);
  assert.equal(code, 2);
  assert.match(stderr, /gone\/a\.json: the report cannot be written: its folder does not exist/);
  assert.match(stderr, /gone\/b\.txt: the report cannot be written: its folder does not exist/);
  assert.match(stderr, /verdict: nonconformant \(narrowed.*: \d+ of \d+ required failed/);
  assert.equal((JSON.parse(readFileSync(kept, 'utf8')) as RunRecord).verdict, 'nonconformant');
});

test('two names or links of one file are one destination', async (t) => {
  const { folder } = temporaryFolder(t);
  const [file, link] = [join(folder, 'x'), join(folder, 'link')];
  writeFileSync(file, '');
  symlinkSync(file, link);
  for (const [one, other] of [
    ['json=x', 'console=./x'],
    [`json=${file}`, `junit=${link}`],
  ] as const) {
    const { code, stderr } = await call(['verify', '--report', one, '--report', other]);
    assert.equal(code, 2);
    assert.match(stderr, /two outputs have the same destination, .*x; give each its own file/);
  }
});

test('descriptors such as /dev/stdout may share a file', () => {
  const texts = ['/dev/stdout', '/dev/stderr', '/dev/fd/1'].map((file) => `json=${file}`);
  assert.equal(parseReports('report', ['json'], texts).length, texts.length);
});

test('no report overwrites an input file', async (t) => {
  const file = temporaryFolder(t).place('x');
  writeFileSync(file, 'mine');
  for (const argv of [
    ['verify', '--fixture', file],
    ['verify', '--baseline', file],
  ]) {
    const { code, stderr } = await call([...argv, '--report', `json=${file}`]);
    assert.equal(code, 2);
    assert.match(stderr, /an output would overwrite the input .*x; give it another file/);
    assert.equal(readFileSync(file, 'utf8'), 'mine');
  }
});

test('at the end of --max-duration, pending requests are aborted, with the reason `budget`', async (t) => {
  const file = temporaryFolder(t).place('run.json');
  // Every second request hangs.
  let turn = 0;
  const url = await serve(
    t,
    () => undefined,
    (_, response) => void (turn++ % 2 === 0 && response.end('{}')),
  );
  const bounds = ['--max-duration', '300ms', '--timeout', '20000'];
  const { code } = await call(['verify', url, ...always, ...bounds, '--report', `json=${file}`]);
  const { requirements } = JSON.parse(readFileSync(file, 'utf8')) as RunRecord;
  const open = requirements.filter((row) => row.outcome === 'inconclusive');
  assert.ok(open.some(({ reason }) => reason === 'budget'));
  assert.ok(open.every(({ reason }) => reason !== 'timeout' && reason !== 'network'));
  assert.notEqual(code, 0);
});

describe('as a process', () => {
  const fixture = ['--fixture', builtInFixture, '--cases', '1'];
  const start = (t: TestContext, ...argv: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [packagedProgram, 'verify', ...argv], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    t.after(() => child.kill('SIGKILL'));
    return child;
  };
  const recordIn = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as RunRecord;

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    test(`${signal} during the run prints a message, and the reports are written`, async (t) => {
      const { folder } = temporaryFolder(t);
      const hang = () => undefined;
      const url = await serve(t, () => child.kill(signal), hang);
      const child = start(t, url, ...fixture, '--report', `json=${join(folder, 'x')}`);
      const { code, stderr } = await waitForExit(child);
      assert.equal(code, 130, stderr);
      assert.ok(stderr.includes(`ib-conformance: interrupted by ${signal}; writing the reports;`));
      const record = recordIn(join(folder, 'x'));
      assert.equal(record.interrupted, true);
      assert.ok(record.notes.includes(`Interrupted by ${signal}.`));
      assert.deepEqual(readdirSync(folder), ['x']);
    });

  test('SIGINT after the first answer, a wrong one, also leaves a record', async (t) => {
    const file = temporaryFolder(t).place('x');
    let requests = 0;
    const answer: RequestListener = (_, response) => {
      if (++requests === 1) response.end('{}');
      if (requests === 2) child.kill('SIGINT');
    };
    const url = await serve(t, () => undefined, answer);
    const child = start(t, url, ...fixture, '--report', `json=${file}`);
    const [code] = (await once(child, 'exit')) as [number];
    const record = recordIn(file);
    assert.deepEqual([code, record.interrupted, record.verdict], [130, true, 'nonconformant']);
  });

  test('closing standard output changes neither the verdict nor the other reports', async (t) => {
    const file = temporaryFolder(t).place('x');
    const url = await serve(t, () => undefined);
    const child = start(t, url, ...always, '--report', 'console', '--report', `json=${file}`);
    const stderr = text(child.stderr!);
    child.stdout!.destroy();
    const [code] = (await once(child, 'exit')) as [number];
    assert.equal(code, 1);
    assert.doesNotMatch(await stderr, /cannot be written/);
    assert.equal(recordIn(file).verdict, 'nonconformant');
  });

  test('standard output that cannot be written is reported, with the verdict', async (t) => {
    const url = await serve(t, () => undefined);
    const line = `"$0" ${packagedProgram} verify ${url} ${always.join(' ')} > /dev/full`;
    const child = spawn('bash', ['-c', line, process.execPath], { stdio: ['ignore', 'pipe', 'pipe'] });
    const { code, stderr } = await waitForExit(child);
    assert.equal(code, 2);
    assert.match(stderr, /verdict: nonconformant/);
    assert.match(stderr, /standard output cannot be written: the disk is full/);
  });
});
