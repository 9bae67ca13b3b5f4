import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createMock } from '../mock/index.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import { runCli } from './testing/run-cli.ts';
import { answerWith } from './front.ts';

const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-'));
const place = (name: string) => join(folder, name);

/** Runs a command line, with all that it would have printed. */
async function callUntil(signal: AbortSignal, ...argv: readonly string[]) {
  const { code, output, aside, error } = await runCli(argv, { signal });
  return { code, output, error: aside + error };
}

const call = (...argv: readonly string[]) => callUntil(new AbortController().signal, ...argv);

const run = ['verify', '--suite', 'valid', '--seed', '1', '--cases', '5', '--no-canary', '--report'];

test('verify writes a transcript, and judge makes the record of the run of it', async () => {
  const [transcript, record] = [place('t.ndjson'), place('t.json')];
  assert.equal((await call(...run, `ndjson=${transcript}`, '--report', `json=${record}`)).code, 0);
  const judged = await call('judge', transcript, '--report', 'json');
  assert.deepEqual([judged.code, judged.output], [0, readFileSync(record, 'utf8')]);
});

test('what comes out otherwise than in the run is told beside the report', async () => {
  const transcript = place('changed.ndjson');
  await call(...run, `ndjson=${transcript}`);
  assert.equal((await call('judge', transcript)).error, '');
  const text = readFileSync(transcript, 'utf8');
  writeFileSync(
    transcript,
    text.replaceAll(String.raw`\"status\":\"EXECUTED\"`, String.raw`\"status\":\"executed\"`),
  );
  const { code, error } = await call('judge', transcript);
  assert.equal(code, 1);
  assert.match(error, /comes out otherwise than in the run itself/);
  assert.match(error, /valid\/deposit-check\/executed/);
});

test('a transcript goes to standard output as well, line by line', async () => {
  const { output } = await call(...run, 'ndjson');
  const kinds = output
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly line: string }).line);
  assert.deepEqual([kinds[0], kinds.at(-1)], ['start', 'end']);
});

test('a run that is killed leaves a transcript that judge reads as incomplete', async () => {
  const transcript = place('killed.ndjson');
  const mock = createMock();
  let requests = 0;
  const server = createServer((request, response) => {
    if (++requests > 100) child.kill('SIGKILL');
    else void answerWith(mock, request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = ['verify', url, '--fixture', 'schemas/built-in.fixture.json', '--concurrency', '1'];
  const child = spawn(
    process.execPath,
    ['bin/ib-conformance.mjs', ...args, '--no-canary', '--report', `ndjson=${transcript}`],
    { stdio: 'ignore' },
  );
  await once(child, 'exit');
  server.close();
  server.closeAllConnections();
  const { code, output } = await call('judge', transcript, '--report', 'json');
  const record = JSON.parse(output) as RunRecord;
  assert.deepEqual([record.verdict, record.interrupted, code], ['incomplete', true, 3]);
  assert.ok(record.requests > 90, `${record.requests}`);
});

test('a run that is interrupted is judged as it was, its signal included', async () => {
  const mock = createMock();
  const stop = new AbortController();
  let requests = 0;
  const server = createServer((request, response) => {
    if (++requests > 100) stop.abort('SIGINT');
    else void answerWith(mock, request, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [transcript, record] = [place('interrupted.ndjson'), place('interrupted.json')];
  const reports = ['--report', `ndjson=${transcript}`, '--report', `json=${record}`];
  const interrupted = await callUntil(stop.signal, 'verify', url, '--no-canary', '--seed', '1', ...reports);
  server.close();
  server.closeAllConnections();
  assert.equal(interrupted.code, 130, interrupted.error);
  const judged = await call('judge', transcript, '--report', 'json');
  assert.equal(judged.output, readFileSync(record, 'utf8'));
  assert.match(judged.output, /Interrupted by SIGINT\./);
  assert.equal(judged.code, 3);
});

describe('told, with the line', () => {
  const start = '{"line":"planned","of":"x","inputs":1}\n';
  for (const [name, text, says] of [
    ['nothing', '', /is empty, or no transcript/],
    ['a record', '{"format":"ib-conformance/run/1"}\n', /:1: is of the format ib-conformance\/run\/1/],
    ['no JSON', `${start}oh\n${start}`, /:2: is not JSON/],
    ['another line', `${start}{"line":"x"}\n`, /:2: .*verify --report ndjson=file/],
    ['no beginning', start, /the first line of a transcript/],
  ] as const)
    test(name, async () => {
      const file = place(`${name}.ndjson`);
      writeFileSync(file, text);
      const { code, error } = await call('judge', file);
      assert.equal(code, 2);
      assert.match(error, says);
    });
  test('no file', async () => {
    const { code, error } = await call('judge', place('none'));
    assert.deepEqual([code, /cannot be read \(ENOENT\)/.test(error)], [2, true]);
  });
});

describe('a transcript that cannot be written', () => {
  test('at all: nothing is sent', async () => {
    const { code, error } = await call(...run, `ndjson=${place('no/such/folder')}`);
    assert.deepEqual([code, /its folder does not exist/.test(error)], [2, true]);
  });
  test(
    'to its end: it is told at once, the other reports are there, and the code says so',
    {
      skip: existsSync('/dev/full') ? false : 'there is no /dev/full here',
    },
    async () => {
      const record = place('beside-full.json');
      const { code, error } = await call(...run, 'ndjson=/dev/full', '--report', `json=${record}`);
      assert.equal(code, 2);
      assert.match(error, /\/dev\/full: the transcript cannot be written: the disk is full/);
      assert.equal((JSON.parse(readFileSync(record, 'utf8')) as RunRecord).verdict, 'conformant');
    },
  );
});

test('of a target that falls silent no requirement fails, in the run and in its judgement', async () => {
  let answers = 0;
  const server = createServer((_, response) => {
    answers += 1;
    if (answers > 3) return;
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"error":"Invalid user_id format"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const [transcript, record] = [place('silent.ndjson'), place('silent.json')];
  const only = ['--only', 'invalid-uuid/user-status/hostile', '--timeout', '50', '--no-canary', '--strict'];
  const reports = ['--report', `ndjson=${transcript}`, '--report', `json=${record}`];
  const { code } = await call('verify', `http://127.0.0.1:${port}`, ...only, ...reports);
  server.close();
  server.closeAllConnections();
  const [result] = (JSON.parse(readFileSync(record, 'utf8')) as RunRecord).requirements;
  assert.deepEqual([code, result?.outcome], [3, 'inconclusive']);
  assert.match(readFileSync(transcript, 'utf8'), /"stage":"control"/);
  const judged = await call('judge', transcript, '--report', 'json');
  assert.equal(judged.output, readFileSync(record, 'utf8'));
});
