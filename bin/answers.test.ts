import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createService, reference } from '../mock/server/handler.ts';
import { faults } from '../mock/deviations/faults.ts';
import { createWorld } from '../mock/server/world.ts';
import { defined } from '../schemas/values.ts';
import { endpointNames } from '../schemas/endpoints.ts';
import { createLookups } from '../suites/plan/lookups.ts';
import { wireRequest } from '../suites/engine/sending.ts';
import { factsOf } from '../suites/rules/facts-of-request.ts';
import {
  catalogue,
  isFromFrontEnd,
  judgeAnswer,
  knownFrom,
  recordExchange,
  redactor,
  rightAnswersTo,
} from '../suites/index.ts';
import { isLookupRow } from '../suites/rules/requirement.ts';
import type { Exchange } from '../suites/rules/scenario-context.ts';
import { readKillMatrix } from './dev/self-test/kill-matrix.ts';
import { ENOUGH_CASES, limits, verifyMock } from './dev/testing/verify-mock.ts';
import { builtInFixture } from './dev/paths.ts';
import { builtIn as fixture, unlimited } from './dev/testing/fixtures.ts';
import { readAnswer, readRequest } from './commands/answers.ts';
import { onePartOf, part } from './dev/testing/part.ts';
import { endsSaying, runCli, testRefusals } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

const known = knownFrom(fixture);
const { fileOf } = temporaryFolder();
const rows = catalogue.filter(isLookupRow);

/** An answer as `curl -i` prints it. */
const printed = (status: number, headers: Readonly<Record<string, string>>, body: string | Uint8Array) => {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Any\r\n${fields.join('')}\r\n`), Buffer.from(body)]);
};

test('every lookup of a run has the answer of the mock among those printed', () => {
  const world = createWorld(unlimited, Date.UTC(2026, 0, 1));
  const { answer } = createService(reference);
  const [caller] = known.callerKeys as [(typeof known.callerKeys)[0]];
  let [lookups, plain] = [0, 0];
  const all = createLookups({ known, seed: 1, cases: 1500 }, rows);
  for (const endpoint of endpointNames)
    for (const one of all.next(endpoint, 'requirement', 'level', 'pair', 'example', 'triple')) {
      const drawn = one.request;
      const credential =
        drawn.credential.as === 'caller' ? ({ as: 'key', key: caller } as const) : drawn.credential;
      const request = { ...drawn, credential };
      // A server reads names in any letter case.
      const { fieldNames: _, ...inLowerCase } = request;
      const received = defined({ ...wireRequest(inLowerCase), alongside: 0 });
      const { response } = answer(world, received, Date.UTC(2026, 0, 1));
      const came = readAnswer(printed(response.status, response.headers, response.body), 'answer');
      const line = `${request.method} ${request.target}`;
      assert.deepEqual(judgeAnswer(known, request, came), [], line);
      const texts = rightAnswersTo(known, request)!.answers.map(({ text }) => text);
      const isDescribed = texts.some((text) => text.includes('any '));
      assert.ok(isDescribed || texts.includes(`${came.status} ${came.text}`), `${line}\n${came.text}`);
      lookups += 1;
      const isPlain =
        (credential.as === 'none' || (credential.as === 'key' && !('scheme' in credential))) &&
        Object.keys(request.headers).length === 0 &&
        request.body === undefined &&
        request.misplaced === undefined;
      if (!isPlain) continue;
      const read = readRequest(line, credential.as === 'key' ? credential.key : undefined);
      assert.deepEqual(factsOf(known, read), factsOf(known, request), line);
      plain += 1;
    }
  assert.ok(lookups > 2000 && plain > 500, `${lookups}, ${plain}`);
});

describe(`the wrong answer of a fault is not among those printed (PART=${part})`, () => {
  const isOfOneAnswer = (id: string) => rows.some((row) => row.id === id && row.kind !== 'repetition');
  for (const [id, [owner = '']] of onePartOf(Object.entries(readKillMatrix()), 16)) {
    if (!isOfOneAnswer(owner)) continue;
    test(id, async () => {
      const exchanges: Exchange[] = [];
      const { requirements } = await verifyMock(faults[id]!.change(reference), {
        fixture: { ...fixture, limits },
        seed: part,
        cases: ENOUGH_CASES,
        isBrief: true,
        onExchange: (exchange) => void exchanges.push(exchange),
      });
      const redact = redactor(known);
      const failed = requirements.filter((one) => one.outcome === 'failed');
      assert.ok(failed.some((one) => one.id === owner));
      for (const row of failed.filter((one) => isOfOneAnswer(one.id))) {
        const { curl, key, response } = row.counterexample!;
        // A dropped connection is no answer.
        if (response === undefined) continue;
        const { request } = exchanges.find((one) => {
          const found = recordExchange(one, 'http://mock.invalid/', redact, known);
          return found.curl === curl && found.key === key;
        })!;
        const { status, headers, body } = response;
        const answer = readAnswer(printed(status, headers, body), 'answer');
        if (isFromFrontEnd(answer)) continue;
        const ids = judgeAnswer(known, request, answer).map((one) => one.id);
        assert.ok(ids.includes(row.id), `${curl}\n${ids.join(', ')}`);
        // Advice: the interface allows the answer.
        if (row.level !== 'required') continue;
        const allowed = rightAnswersTo(known, request)?.answers ?? [];
        assert.ok(!allowed.some(({ text }) => text === `${status} ${body}`), curl);
      }
    });
  }
});

const foreign = '/api/ib/deposit-check?reference_id=44444444-4444-4444-8444-444444444444';
const answersTo = (request: string, answer: string, ...flags: readonly string[]) => [
  'answers',
  request,
  ...flags,
  '--answer',
  fileOf('a.txt', answer),
];

test('two companies disagree whether 404 is right here, and one command ends it', async () => {
  const request = `GET http://127.0.0.1:4010${foreign}`;
  const key = ['--key', 'contoso/active'];
  const right = /^Right:\n  404 \{"error":"Deposit not found"\}\n.*foreign-ib\/deposit-check\/other-ib/m;
  await endsSaying(['answers', request, ...key], 0, right);
  const json = 'HTTP/1.1 404 Not Found\nContent-Type: application/json\n\n{"error":"Deposit not found"}';
  await endsSaying(answersTo(request, json, ...key), 0);
  await endsSaying(answersTo(request, json), 1);
});

test('exit codes: advice counts with --strict only; 429 is right; a proxy is not judged; 500 is wrong', async () => {
  const plain = 'HTTP/2 404\ncontent-type: text/plain\n\n{"error":"Deposit not found"}';
  const flags = ['--key', 'contoso/active'];
  await endsSaying(answersTo(foreign, plain, ...flags), 0);
  await endsSaying(answersTo(foreign, plain, ...flags, '--strict'), 1);
  for (const [status, body, expected] of [
    [429, '{"error":"TOO_MANY_REQUESTS"}', 0],
    [429, '{"error":"Too many"}', 1],
    [502, '', 3],
    [500, '<html></html>', 3],
    [500, '{}', 1],
  ] as const)
    await endsSaying(answersTo(foreign, `HTTP/1.1 ${status} x\n\n${body}`), expected);
});

describe('where the interface does not say which answer is right, some are wrong all the same', () => {
  const user = '/api/ib/user-status?user_id=11111111-1111-4111-8111-111111111111';
  const member = '200 {"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}';
  const nobody = '200 {"is_under_ib":false,"date_joined":null}';
  const executed = '200 {"status":"EXECUTED","amountInUsd":250.5,"executedAt":1705314600000}';
  const errors = ['400 {"error":"Invalid user_id format"}', '409 {"error":"user_id is repeated"}'];
  const [ours, theirs] = ['401 {"error":"Unauthorized"}', '401 {"error":"UNAUTHORIZED"}'];
  const notFound = ['404 {"error":"Deposit not found"}', '404 {"error":"Not found"}'] as const;
  const noErrors = ['', 'Bad', '{"message":"x"}', '{"error":"a","error":"b"}', '{"error":"a","x":1}'].map(
    (body) => `400 ${body}`,
  );
  const extra = `${nobody.slice(0, -1)},"x":1}`;
  const noResults = ['200 {}', '200 ok', '200 ', '204 ', '302 ', '200 {"error":"x"}', extra];
  const crash = '500 {"statusCode":500,"message":"s.trim is not a function"}';
  const crashes = [crash, '500 {"error":"x"}', '599 '];
  const page = '200 <html></html>';
  const all = [...noErrors, ...noResults, ...crashes];
  const ofDeposit = [member, ours, theirs, notFound[1], ...noErrors, ...crashes];
  for (const [request, key, right, wrong] of [
    [`${user}&user_id=x`, 'active', [member, nobody, ...errors], [...all, '501 ']],
    [`${user}&user_id=x`, 'revoked', [ours, ...errors], [theirs, member, nobody, ...noErrors, ...crashes]],
    [user.replace('user_id', 'USER_ID'), 'active', [nobody, ...errors], all],
    [`${foreign}&reference_id=x`, 'active', [executed, notFound[0], ...errors], ofDeposit],
    [`${user}&=x`, 'active', [member, ...errors, ...noErrors], [...noResults, ...crashes, '501 ']],
    [`HEAD ${user}`, 'active', ['200 ', '400 ', '405 '], [...crashes, '501 ']],
    [`POST ${user}`, 'revoked', ['405 ', '501 ', ...noErrors], [member, ...crashes]],
    [user.replace('?', '/?'), 'revoked', ['308 ', '501 ', page, ...noErrors], [member, ...crashes]],
  ] as const)
    test(`${request}, ${key} key`, () => {
      const ownKey = known.everyKey.find(({ name }) => name === `<key northwind/${key}>`);
      const sent = readRequest(request, ownKey);
      const isWrong = (answer: string) => {
        const [, status, body = ''] = /^(\d+) (.*)$/.exec(answer)!;
        const judged = judgeAnswer(known, sent, readAnswer(printed(Number(status), {}, body), 'answer'));
        return judged.some(({ level }) => level === 'required');
      };
      assert.deepEqual([right.filter(isWrong), wrong.filter((one) => !isWrong(one))], [[], []]);
    });
});

test('what the interface does not speak of, JSON, and a key that is echoed', async () => {
  await endsSaying(['answers', `POST ${foreign}`], 0, /says nothing about this request/);
  const found = JSON.parse((await runCli(['answers', foreign, '--json', '--key', 'none'])).output);
  const answers = found.allowed.answers.map(({ text, kind }: Record<string, string>) => [text, kind]);
  assert.deepEqual(answers, [['401 {"error":"UNAUTHORIZED"}', 'required']]);
  const { key } = known.callerKeys[0]!;
  const { output } = await runCli(answersTo(`http://x${foreign}&key=${key}`, `HTTP/1.1 200 OK\n\n"${key}"`));
  assert.ok(!output.includes(key), output);
});

describe('of what curl -i prints, the last head counts:', () => {
  const last = 'HTTP/1.1 200 OK\r\nA: 1\r\na: 2\r\n\r\nbody\n';
  for (const before of [
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 200 Connection established\r\n\r\n',
    'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n',
    'HTTP/1.1 407 x\r\nA: 3\r\n\r\nHTTP/1.1 200 Connection established\r\n\r\n',
    'HTTP/1.0 200 Connection established\r\nVia: x\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n',
    'HTTP/2 302 \nlocation: /x\n\n',
  ])
    test(JSON.stringify(before), () => {
      const { status, headers, text } = readAnswer(Buffer.from(before + last), 'answer');
      assert.deepEqual([status, headers, text], [200, { a: ['1', '2'] }, 'body\n']);
    });
  test('a 407 alone is of a proxy', async () => {
    const answer = 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n';
    const words = /a proxy or gateway answered, so nothing was judged/;
    await endsSaying(answersTo(foreign, answer), 3, words);
  });
});

test('it uses the fixture of the config file, and says which data it used', async () => {
  const own = { ...fixture, users: fixture.users!.slice(0, 1), deposits: [] };
  fileOf('own/fixture.json', own);
  const configFile = fileOf('own/config.json', { verify: { url: 'http://x', fixture: 'fixture.json' } });
  const [one, other] = known.members.map(({ user_id }) => user_id);
  const outputOf = async (id: string, context = {}, ...flags: readonly string[]) =>
    (await runCli(['answers', `/api/ib/user-status?user_id=${id}`, ...flags], context)).output;
  const noFile = await outputOf(other!);
  assert.match(noFile, /^ {4}data: the built-in data of the mock; --fixture gives that of another target$/m);
  assert.match(noFile, /200 \{"is_under_ib":true/);
  const configured = await outputOf(other!, { configFile });
  assert.match(configured, /^ {4}data: \S+own\/fixture\.json$/m);
  assert.match(configured, /200 \{"is_under_ib":false,"date_joined":null\}/);
  assert.match(await outputOf(one!, { configFile }), /200 \{"is_under_ib":true/);
  const withFlag = await outputOf(other!, { configFile }, '--fixture', builtInFixture);
  assert.match(withFlag, /^ {4}data: \S+built-in\.fixture\.json$/m);
  assert.match(await outputOf(other!, { configFile }, '--json'), /"data": "\S+own\/fixture\.json"/);
});

const notHttp = fileOf('no.txt', 'hello');
const [interim, unknown] = [fileOf('100.txt', 'HTTP/1.1 100 x\n\n'), fileOf('600.txt', 'HTTP/1.1 600 x\n\n')];
testRefusals('answers', [
  ['/api/ib/users', /\/api\/ib\/users: the interface has no such path; paths: \/api\/ib\/user-status/],
  ['/api/ib/user-status --key northwind/activ', /did you mean northwind\/active/],
  ['/api/ib/user-status --fixture no-such.json', /no-such\.json: there is no such file/],
  [`/api/ib/user-status --answer ${notHttp}`, /is no HTTP answer; its first line must be a status line/],
  [`/api/ib/user-status --answer ${interim}`, /is no HTTP answer/],
  [`/api/ib/user-status --answer ${unknown}`, /is no HTTP answer/],
  ['/api/ib/user-status --answer no-such.txt', /no-such\.txt: cannot be read/],
]);
for (const line of ['what must I answer', `curl http://x${foreign}`, ''])
  test(`refused: ${line}`, async () => {
    await endsSaying(['answers', line, '--key', 'none'], 2, /needs a path or a URL, such as/);
  });

for (const form of [
  '//api/ib/user-status',
  '/API/IB/User-Status',
  '/api/ib/user-status/',
  '/x/../api/ib/user-status',
  '/x/%2e%2e/api/ib/user-status',
  '/api/ib\\user-status',
  '/api/ib%2Fuser-status',
  '/api/ib/%75ser-status;x=1',
  '/api/ib/user-status.json',
  '/api/ib/user-status%20',
])
  test(`another form of a path: ${form}`, async () => {
    const words = /The interface says nothing about this request, but no answer may show data/;
    await endsSaying(['answers', `${form}?user_id=x`], 0, words);
  });

test('data for another form without a key is wrong, and right with the own key', async () => {
  const member = known.members[0]!;
  const body = JSON.stringify({ is_under_ib: true, date_joined: member.date_joined });
  const answer = `HTTP/1.1 200 OK\ncontent-type: application/json\n\n${body}`;
  const target = `/api/ib/user-status/?user_id=${member.user_id}`;
  await endsSaying(answersTo(target, answer, '--key', 'none'), 1, /wrong[^]*no-way-around/);
  await endsSaying(answersTo(target, answer), 0);
});
