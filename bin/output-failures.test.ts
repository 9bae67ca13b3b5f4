import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, test, type TestContext } from 'node:test';
import type { RunRecord } from '../schemas/generated/types.ts';
import { serverFor } from '../suites/testing/against.ts';
import { builtInFixture, readJson } from './dev/paths.ts';
import { parseReports } from './report-files.ts';
import { waitForExit } from './dev/testing/child-process.ts';
import { packagedProgram } from './dev/testing/packaged.ts';
import { endsSaying } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

/** Starts a server that answers everything, wrongly by default. */
const serve = (t: TestContext, answer: RequestListener = (_, response) => void response.end('{}')) =>
  serverFor(t, createServer(answer));

const always = ['--fixture', builtInFixture, '--cases', '1', '--only', 'valid'];

test('every report that cannot be written is reported, with the verdict, and the others are written', async (t) => {
  const { place } = temporaryFolder(t);
  mkdirSync(place('gone'));
  const url = await serve(t, (_, response) => {
    rmSync(place('gone'), { recursive: true, force: true });
    response.end('{}');
  });
  const kept = place('kept.json');
  const reports = [`json=${place('gone/a.json')}`, `console=${place('gone/b.txt')}`, `json=${kept}`];
  const flags = reports.flatMap((report) => ['--report', report]);
  const { stderr } = await endsSaying(['verify', url, ...always, ...flags], 2);
  assert.match(stderr, /gone\/a\.json: the report cannot be written: its folder does not exist/);
  assert.match(stderr, /gone\/b\.txt: the report cannot be written: its folder does not exist/);
  assert.match(stderr, /verdict: nonconformant \(narrowed.*: \d+ of \d+ required failed/);
  assert.equal(readJson<RunRecord>(kept).verdict, 'nonconformant');
});

test('two names or links of one file are one destination', async (t) => {
  const { place, fileOf } = temporaryFolder(t);
  symlinkSync(fileOf('x', ''), place('link'));
  const words = /two outputs have the same destination, .*x; give each its own file/;
  for (const [one, other] of [
    ['json=x', 'console=./x'],
    [`json=${place('x')}`, `junit=${place('link')}`],
    [`json=${place('x')}`, `console --log ${place('x')}`],
  ] as const)
    await endsSaying(`verify --report ${one} --report ${other}`, 2, words);
});

test('descriptors such as /dev/stdout may share a file', () => {
  const texts = ['/dev/stdout', '/dev/stderr', '/dev/fd/1'].map((file) => `json=${file}`);
  assert.equal(parseReports('report', ['json'], texts).length, texts.length);
});

test('no report and no log overwrites an input file', async (t) => {
  const file = temporaryFolder(t).fileOf('x', 'mine');
  const words = /an output would overwrite the input .*x; give it another file/;
  for (const flags of [`--fixture ${file} --report json=${file}`, `--baseline ${file} --log ${file}`]) {
    await endsSaying(`verify ${flags}`, 2, words);
    assert.equal(readFileSync(file, 'utf8'), 'mine');
  }
});

test('at the end of --max-duration, pending requests are aborted, with the reason `budget`', async (t) => {
  const file = temporaryFolder(t).place('run.json');
  // Every second request hangs.
  let turn = 0;
  const url = await serve(t, (_, response) => void (turn++ % 2 === 0 && response.end('{}')));
  const bounds = ['--max-duration', '300ms', '--timeout', '20000'];
  await endsSaying(['verify', url, ...always, ...bounds, '--report', `json=${file}`], 1);
  const { requirements } = readJson<RunRecord>(file);
  const open = requirements.flatMap((row) => (row.outcome === 'inconclusive' ? [row.reason] : []));
  const reasons = new Set<string>(open);
  assert.ok(reasons.has('budget') && !reasons.has('timeout') && !reasons.has('network'));
});

describe('as a process', () => {
  const fixture = ['--fixture', builtInFixture, '--cases', '1'];
  const start = (t: TestContext, ...argv: readonly string[]): ChildProcess => {
    const child = spawn(process.execPath, [packagedProgram, 'verify', ...argv]);
    t.after(() => child.kill('SIGKILL'));
    return child;
  };
  const recordIn = readJson<RunRecord>;

  test('SIGTERM during the run prints a message, and the reports are written', async (t) => {
    const { folder, place } = temporaryFolder(t);
    const url = await serve(t, () => child.kill('SIGTERM'));
    const child = start(t, url, ...fixture, '--report', `json=${place('x')}`);
    const { code, stderr } = await waitForExit(child);
    assert.equal(code, 130, stderr);
    assert.ok(stderr.includes('ib-conformance: interrupted by SIGTERM; writing the reports;'));
    const record = recordIn(place('x'));
    assert.equal(record.interrupted, true);
    assert.ok(record.notes.includes('Interrupted by SIGTERM.'));
    assert.deepEqual(readdirSync(folder), ['x']);
  });

  test('SIGINT after the first answer, a wrong one, also leaves a record', async (t) => {
    const file = temporaryFolder(t).place('x');
    let requests = 0;
    const url = await serve(t, (_, response) => {
      if (++requests === 1) response.end('{}');
      if (requests === 2) child.kill('SIGINT');
    });
    const child = start(t, url, ...fixture, '--report', `json=${file}`);
    const { code } = await waitForExit(child);
    const record = recordIn(file);
    assert.deepEqual([code, record.interrupted, record.verdict], [130, true, 'nonconformant']);
  });

  test('closing standard output changes neither the verdict nor the other reports', async (t) => {
    const file = temporaryFolder(t).place('x');
    const url = await serve(t);
    const child = start(t, url, ...always, '--report', 'console', '--report', `json=${file}`);
    const stderr = text(child.stderr!);
    child.stdout!.destroy();
    const [code] = (await once(child, 'exit')) as [number];
    assert.equal(code, 1);
    assert.doesNotMatch(await stderr, /cannot be written/);
    assert.equal(recordIn(file).verdict, 'nonconformant');
  });

  test('standard output that cannot be written is reported, with the verdict', async (t) => {
    const url = await serve(t);
    const line = `"$0" ${packagedProgram} verify ${url} ${always.join(' ')} > /dev/full`;
    const child = spawn('bash', ['-c', line, process.execPath], { stdio: ['ignore', 'pipe', 'pipe'] });
    const { code, stderr } = await waitForExit(child);
    assert.equal(code, 2);
    assert.match(stderr, /verdict: nonconformant/);
    assert.match(stderr, /standard output cannot be written: the disk is full/);
  });
});
