import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { reference, type Behaviour } from '../mock/behaviour.ts';
import { faults } from '../mock/faults.ts';
import { startMock } from '../mock/server.ts';
import { variants } from '../mock/variants.ts';
import { conclusion } from '../reports/verdict.ts';
import { renderJson, renderLine } from '../reports/json.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import { withServer } from '../suites/testing/against.ts';
import { catalogue, createTranscriber, judgeTranscript, knownFrom, readTranscript } from '../suites/index.ts';
import type { Requirement } from '../suites/index.ts';
import { failed } from '../suites/verdict.ts';
import { limits, verifyMock } from './testing/verify-mock.ts';
import { builtInFixture, loadFixture } from './fixture-file.ts';
import { loadTranscript } from './record-files.ts';
import { flaky } from './testing/hostile-servers.ts';
import { packagedProgram } from './testing/packaged.ts';
import { runCli } from './testing/run-cli.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';
import { version } from './version.ts';

const fixture = { ...(await loadFixture(undefined, {})), limits };
const { place, fileOf } = temporaryFolder();

/** Verifies a mock. Returns the record and the text of the transcript. */
async function recorded(behaviour: Behaviour, seed = 7) {
  let text = '';
  const header = {
    known: knownFrom(fixture),
    fixture,
    target: 'http://mock.invalid/',
    seed,
    cases: 30,
    version,
    requirements: catalogue.map(({ id }) => id),
    selection: { whole: true, skip: [] },
    hasStateHook: true,
    graceMs: 5000,
  };
  const onEvent = createTranscriber(header, (line) => (text += renderLine(line)));
  const record = await verifyMock(behaviour, { fixture, seed, cases: 30, onEvent });
  for (const { key } of fixture.apiKeys!) assert.ok(!text.includes(key));
  return { record, text };
}

/** Judges the text of a transcript. Validates each line against the schema. */
async function judged(text: string, by = catalogue): Promise<RunRecord> {
  return judgeTranscript(readTranscript(await loadTranscript(fileOf('judged.ndjson', text))), by, version);
}

const resultOf = ({ requirements }: RunRecord, id: string) => requirements.find((result) => result.id === id);

/** The transcript of the reference mock, which several tests change. */
const ofReference = await recorded(reference);

/** Tests a sample of the faults and variants by default; `EVERY=1` tests all of them. */
const EVERY = Number(process.env['EVERY'] ?? 40);
const sampled = <Value>(table: Readonly<Record<string, Value>>) =>
  Object.entries(table).filter((_, at) => at % EVERY === 0);

describe('judge gives the same record as the run, byte for byte', () => {
  test('the reference', async () => {
    assert.equal(renderJson(await judged(ofReference.text)), renderJson(ofReference.record));
    assert.equal(ofReference.record.verdict, 'conformant');
  });
  for (const [id, { change }] of [...sampled(faults), ...sampled(variants)])
    test(id, async () => {
      const { record, text } = await recorded(change(reference));
      assert.equal(renderJson(await judged(text)), renderJson(record));
    });
});

describe('a result that a server without the data would also have is marked as not proved', () => {
  const onWord = ({ requirements }: RunRecord) =>
    requirements.flatMap((row) => (row.outcome === 'passed' && row.basis === 'fixture' ? [row.id] : []));
  const own = (names: string) => names.split(' ');
  const never = own(
    'pending/deposit-check/failed auth/user-status/expired auth/user-status/non-partner auth/deposit-check/expired auth/deposit-check/non-partner',
  );
  const ofKeys = own('auth/user-status/revoked auth/deposit-check/revoked');
  const ofEntities = own(
    'foreign-ib/user-status/other-ib foreign-ib/user-status/indistinguishable foreign-ib/deposit-check/other-ib foreign-ib/deposit-check/indistinguishable pending/deposit-check/pending pending/deposit-check/indistinguishable',
  );
  test('except for results that the run proves', () => {
    assert.deepEqual(new Set(onWord(ofReference.record)), new Set(never));
  });
  test('without a state hook, and without data of other partners', async () => {
    const ours = new Set(
      fixture.users!.filter(({ partner }) => partner === 'northwind').map((one) => one.user_id),
    );
    const stays = (deposit: NonNullable<typeof fixture.deposits>[number]) =>
      deposit.state !== 'pending' || deposit.becomes === undefined;
    const complete = {
      ...fixture,
      apiKeys: fixture.apiKeys!.filter(({ partner, state }) => partner !== 'contoso' || state !== 'active'),
      deposits: fixture.deposits!.filter(stays),
    };
    const served = {
      ...complete,
      apiKeys: complete.apiKeys.filter(({ partner, state }) => partner === 'northwind' && state === 'active'),
      users: fixture.users!.filter(({ user_id }) => ours.has(user_id)),
      deposits: complete.deposits.filter(({ user_id, state }) => ours.has(user_id) && state === 'EXECUTED'),
    };
    const run = { fixture: complete, seed: 7, cases: 30, hasStateHook: false };
    const record = await verifyMock(reference, run, served);
    assert.deepEqual(new Set(onWord(record)), new Set([...never, ...ofKeys, ...ofEntities]));
    assert.match(
      conclusion(record).join('\n'),
      /^13 not proved by this run \(a server without this data would also pass\): /m,
    );
  });
});

describe('a truncated transcript', () => {
  test('is never conformant, and passes only what the run passed', async () => {
    const { record, text } = ofReference;
    const lines = text.trimEnd().split('\n');
    for (const share of [0.001, 0.2, 0.5, 0.8, 0.95, 0.999, 1]) {
      const rest = lines.slice(0, Math.ceil(share * (lines.length - 1)));
      const outcomes = rest.filter((line) => line.startsWith('{"line":"outcome"')).length;
      const cut = await judged(rest.join('\n'));
      assert.deepEqual([cut.verdict, cut.interrupted], ['incomplete', true], `${share}`);
      const missing = cut.requirements.filter(
        (result) => result.outcome === 'inconclusive' && result.reason === 'interrupted',
      );
      assert.equal(missing.length, record.requirements.length - outcomes, `${share}`);
    }
  });
  test('with a failure is nonconformant', async () => {
    const { text } = await recorded(faults['user-status-errors-nested']!.change(reference));
    const lines = text.split('\n');
    const failure = lines.findIndex((line) =>
      /"line":"outcome".*"level":"required".*"outcome":"failed"/.test(line),
    );
    const { verdict, interrupted } = await judged(lines.slice(0, failure + 1).join('\n'));
    assert.deepEqual([verdict, interrupted], ['nonconformant', true]);
  });
});

test('the verdict depends on the answers: a changed answer changes it', async () => {
  const changed = ofReference.text.replaceAll(
    String.raw`\"status\":\"EXECUTED\"`,
    String.raw`\"status\":\"executed\"`,
  );
  const result = resultOf(await judged(changed), 'valid/deposit-check/executed')!;
  assert.ok(result.outcome === 'failed' && result.aspect === 'value');
});

describe('a newer catalogue', () => {
  const id = 'valid/deposit-check/amount';
  test('judges the same answers by its rules', async () => {
    const changed = catalogue.map((one): Requirement =>
      one.kind === 'property' && one.id === id
        ? { ...one, holds: () => failed('status', '418', 'another') }
        : one,
    );
    const { requirements } = await judged(ofReference.text, changed);
    const failures = requirements.filter(({ outcome }) => outcome === 'failed');
    assert.deepEqual(
      failures.map((result) => result.id),
      [id],
    );
  });
  test('cannot judge requirements that the run did not check', async () => {
    const [first, ...others] = catalogue;
    const record = await judged(ofReference.text, [{ ...first!, id: 'valid/user-status/new' }, ...others]);
    const result = resultOf(record, 'valid/user-status/new');
    assert.ok(result?.outcome === 'inconclusive' && result.reason === 'not-recorded');
    assert.equal(resultOf(record, first!.id), undefined, 'a removed requirement has no result');
  });
});

const run = '--suite valid --seed 1 --cases 100 --report';

test('verify writes a transcript to a file and to standard output; judge makes the same record from it', async () => {
  const [transcript, record] = [place('t.ndjson'), place('t.json')];
  const reports = `ndjson --report ndjson=${transcript} --report json=${record}`;
  const { code, output } = await runCli(`verify ${run} ${reports}`);
  assert.deepEqual([code, output], [0, readFileSync(transcript, 'utf8')]);
  const again = await runCli(`judge ${transcript} --report json`);
  assert.deepEqual(again, { code: 0, output: readFileSync(record, 'utf8'), stderr: '', error: '' });
});

test('judge prints differences from the run, and nothing if the same requirements fail', async () => {
  const [transcript, changed] = [place('failing.ndjson'), place('changed.ndjson')];
  const fault = faults['date-day-and-month-swapped']!;
  await using mock = await startMock({ behaviour: fault.change(reference) });
  const own = `${mock.url} --fixture ${builtInFixture.pathname}`;
  assert.equal((await runCli(`verify ${own} ${run} ndjson=${transcript}`)).code, 1);
  const same = await runCli(`judge ${transcript}`);
  assert.deepEqual([same.code, same.stderr], [1, '']);
  const text = readFileSync(transcript, 'utf8');
  const [was, is] = [String.raw`\"status\":\"EXECUTED\"`, String.raw`\"status\":\"executed\"`];
  writeFileSync(changed, text.replaceAll(was, is));
  const other = await runCli(`judge ${changed}`);
  assert.equal(other.code, 1);
  assert.match(other.stderr, /some results differ from those of the run[^]*valid\/deposit-check\/executed/);
});

test('judge reads the transcript of a killed run as incomplete', async () => {
  const transcript = place('killed.ndjson');
  const server = flaky(fixture, (nth) => nth > 100 && child.kill('SIGKILL'));
  let child: ReturnType<typeof spawn>;
  await withServer(server, async (port) => {
    const args = ['verify', `http://127.0.0.1:${port}`, '--fixture', builtInFixture.pathname];
    const flags = ['--concurrency', '1', '--report', `ndjson=${transcript}`];
    child = spawn(process.execPath, [packagedProgram, ...args, ...flags], { stdio: 'ignore' });
    await once(child, 'exit');
  });
  const { code, output } = await runCli(`judge ${transcript} --report json`);
  const record = JSON.parse(output) as RunRecord;
  assert.deepEqual([record.verdict, record.interrupted, code], ['incomplete', true, 3]);
  assert.ok(record.requests > 90, `${record.requests}`);
});

test('judge gives the record of an interrupted run, including its signal', async () => {
  const stop = new AbortController();
  const server = flaky(fixture, (nth) => nth > 100 && (stop.abort('SIGINT'), true));
  const [transcript, record] = [place('interrupted.ndjson'), place('interrupted.json')];
  const flags = `--seed 1 --report ndjson=${transcript} --report json=${record}`;
  const interrupted = await withServer(server, (port) =>
    runCli(`verify http://127.0.0.1:${port} ${flags}`, { signal: stop.signal }),
  );
  assert.equal(interrupted.code, 130, interrupted.stderr);
  const again = await runCli(`judge ${transcript} --report json`);
  assert.deepEqual([again.code, again.output], [3, readFileSync(record, 'utf8')]);
  assert.match(again.output, /Interrupted by SIGINT\./);
});

test('if a target stops answering, no requirement fails, in the run and in judge', async () => {
  let answers = 0;
  const server = createServer((_, response) => {
    if (++answers > 3) return;
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end('{"error":"Invalid user_id format"}');
  });
  const [transcript, record] = [place('silent.ndjson'), place('silent.json')];
  const only = '--only invalid-uuid/user-status/hostile --cases 20 --timeout 50 --strict';
  const reports = `--report ndjson=${transcript} --report json=${record}`;
  const { code } = await withServer(server, (port) =>
    runCli(`verify http://127.0.0.1:${port} ${only} ${reports}`),
  );
  const [result] = (JSON.parse(readFileSync(record, 'utf8')) as RunRecord).requirements;
  assert.deepEqual([code, result?.outcome], [3, 'inconclusive']);
  assert.match(readFileSync(transcript, 'utf8'), /"line":"missed"/);
  const again = await runCli(`judge ${transcript} --report json`);
  assert.equal(again.output, readFileSync(record, 'utf8'));
});

const start = '{"line":"stopped","of":"x","reason":"budget","words":"x"}\n';

/** Texts that are not a transcript, and the message. */
const wrong: Readonly<Record<string, readonly [text: string | undefined, pattern: RegExp]>> = {
  nothing: ['', /is empty or not a transcript/],
  'a record': ['{"format":"ib-conformance/run/1"}\n', /: is a run record, which is judged already/],
  'an indented record': [
    JSON.stringify({ format: 'ib-conformance/run/1' }, undefined, 2),
    /is a run record, which is judged already: `ib-conformance report /,
  ],
  'no JSON': [`${start}oh\n${start}`, /:2: is not JSON/],
  'another line': [`${start}{"line":"x"}\n`, /:2: .*verify --report ndjson=file/],
  'no start line': [start, /first line is not a start line/],
  'no file': [undefined, /cannot be read \(ENOENT\)/],
};

for (const [name, [text, pattern]] of Object.entries(wrong))
  test(`judge rejects: ${name}`, async () => {
    const file = place(`${name}.wrong`);
    if (text !== undefined) writeFileSync(file, text);
    const { code, stderr } = await runCli(['judge', file]);
    assert.equal(code, 2);
    assert.match(stderr, pattern);
  });

describe('a transcript that cannot be written', () => {
  test('from the start: nothing is sent', async () => {
    const { code, stderr } = await runCli(`verify ${run} ndjson=${place('no/such/folder')}`);
    assert.deepEqual([code, /its folder does not exist/.test(stderr)], [2, true]);
  });
  const skip = existsSync('/dev/full') ? false : 'there is no /dev/full here';
  test('to its end: the other reports are written, with exit code 2', { skip }, async () => {
    const record = place('beside-full.json');
    const { code, stderr } = await runCli(`verify ${run} ndjson=/dev/full --report json=${record}`);
    assert.equal(code, 2);
    assert.match(stderr, /\/dev\/full: the transcript cannot be written: the disk is full/);
    assert.equal((JSON.parse(readFileSync(record, 'utf8')) as RunRecord).verdict, 'conformant');
  });
});
