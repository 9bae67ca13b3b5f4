import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { RecordedExchange, RunRecord } from '../schemas/generated/types.ts';
import { withServer } from '../suites/testing/against.ts';
import { builtInFixture, readJson } from './dev/paths.ts';
import { builtIn as fixture } from './dev/testing/fixtures.ts';
import { flaky } from './dev/testing/hostile-servers.ts';
import { packagedProgram } from './dev/testing/packaged.ts';
import { endsSaying } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

/** A line of the log. */
interface Line extends Pick<RecordedExchange, 'request' | 'response' | 'trace'> {
  readonly time: string;
  readonly endpoint: string;
  readonly for?: string;
  readonly ms?: number;
  readonly error?: string;
}

const { place } = temporaryFolder();

const textOf = (file: string) => readFileSync(file, 'utf8');
const linesOf = (file: string) =>
  textOf(file)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

test('--log writes each exchange to a line, without keys', async () => {
  const [log, report] = [place('run.log'), place('run.json')];
  const only = '--only auth/user-status/unknown-key --only valid/deposit-check/executed';
  await endsSaying(`verify mock ${only} --cases 100 --seed 1 --log ${log} --report json=${report}`, 0);
  const lines = linesOf(log);
  assert.equal(lines.length, readJson<RunRecord>(report).requests);
  for (const { time, endpoint, request, response, ms } of lines) {
    assert.equal(new Date(time).toISOString(), time);
    assert.ok(request.target.startsWith(`/api/ib/${endpoint}`), request.target);
    assert.ok(response!.status >= 200 && response!.body !== '' && ms! >= 0);
    assert.ok('content-type' in response!.headers);
  }
  const isExecuted = ({ request, response }: Line) =>
    request.method === 'GET' &&
    request.headers['authorization'] === 'Bearer $IB_API_KEY' &&
    response?.status === 200;
  assert.ok(lines.some((line) => isExecuted(line) && line.response!.body.includes('"EXECUTED"')));
  assert.ok(lines.some((line) => line.for === 'lookups'));
  assert.ok(new Set(lines.map(({ trace }) => trace)).size > lines.length / 4);
  for (const { key } of fixture.apiKeys!) assert.ok(!textOf(log).includes(key), key);
});

test('--log has what a run sent before it was killed', async () => {
  const log = place('killed.log');
  const server = flaky(fixture, (nth) => nth > 100 && child.kill('SIGKILL'));
  let child: ReturnType<typeof spawn>;
  await withServer(server, async (port) => {
    const args = ['verify', `http://127.0.0.1:${port}`, '--fixture', builtInFixture];
    const flags = ['--concurrency', '1', '--log', log];
    child = spawn(process.execPath, [packagedProgram, ...args, ...flags], { stdio: 'ignore' });
    await once(child, 'exit');
  });
  // The last answers were on their way: one for each endpoint.
  const { length } = linesOf(log);
  assert.ok(length >= 98 && length <= 100, `${length} lines`);
});

test('--log names the error if no answer came', async () => {
  const log = place('silent.log');
  const flags = `--only auth/user-status/missing --timeout 50 --log ${log}`;
  const server = flaky(fixture, (nth) => nth > 3);
  await withServer(server, (port) => endsSaying(`verify http://127.0.0.1:${port} ${flags}`, 3));
  const { response, ms, error } = linesOf(log).at(-1)!;
  assert.deepEqual([response, ms, error], [undefined, undefined, 'no complete answer within 50 ms']);
});

describe('--log that cannot be written', () => {
  test('from the start: nothing is sent', async () => {
    const words = /such\/folder: the log cannot be written: a part of its path is a file/;
    await endsSaying(`verify http://127.0.0.1:9 --log ${builtInFixture}/such/folder`, 2, words);
  });
  const skip = existsSync('/dev/full') ? false : 'there is no /dev/full here';
  test('to its end: the reports are written, with exit code 2', { skip }, async () => {
    const report = place('beside-full.json');
    const line = `verify mock --only valid/user-status/member --cases 50 --report json=${report}`;
    const { stderr } = await endsSaying(`${line} --log /dev/full`, 2);
    assert.match(stderr, /\/dev\/full: the log cannot be written: the disk is full/);
    assert.equal(readJson<RunRecord>(report).verdict, 'conformant');
  });
});
