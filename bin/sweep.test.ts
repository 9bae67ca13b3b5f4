import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { xmlErrors } from '../reports/testing/parsers.ts';
import validate from '../schemas/generated/sweep.cjs';
import { serverFor } from '../suites/testing/against.ts';
import { judgeState } from './sweep.ts';
import { endsSaying, runCli } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

const { folder, place, fileOf } = temporaryFolder();
const words = (line: string) => line.split(' ').filter((word) => word !== '');

/** Code of all clients. `insist` advances the mock's clock instead of waiting. */
const common = `
  const { IB_CONFORMANCE_MOCK_URL: url, IB_CONFORMANCE_MOCK_KEY: key } = process.env;
  const user = (digit) => 'user-status?user_id=' + 'dddddddd-dddd-4ddd-8ddd-dddddddddddd'.replaceAll('d', digit);
  const deposit = (digit) => user(digit).replace('user-status?user_id', 'deposit-check?reference_id');
  const ask = async (path, key = process.env.IB_CONFORMANCE_MOCK_KEY) => {
    const response = await fetch(url + '/api/ib/' + path, { headers: { Authorization: 'Bearer ' + key } });
    return { ...(await response.json()), code: response.status };
  };
  const json = { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: '{"advance":"1s"}' };
  const insist = async (path, key, world = '') => {
    for (let tries = 0; tries < 5; tries++) {
      const answer = await ask(path, key).catch(() => ({ code: 503 }));
      if (answer.code < 429) return answer;
      await fetch(url + '/__admin/clock?world=' + world, json);
    }
    throw new Error('no answer');
  };
  const same = (actual, expected) => { if (actual !== expected) throw new Error(actual + ' is not ' + expected); };`;
const careful = `
  same((await insist(user(1))).is_under_ib, true);
  same((await insist(user(2))).is_under_ib, false);
  same((await insist(user(1), 'nope')).error, 'Unauthorized');
  const { amountInUsd, executedAt } = await insist(deposit(4));
  same(amountInUsd + ' ' + executedAt, '250.5 1705314600000');
  same((await insist(deposit(5))).error, 'Deposit not found');
  while ((await insist(deposit(7))).code === 404);`;
const careless = `same((await ask(user(1))).code, 200); same((await ask(deposit(4))).code, 200);`;
const counting = `let tries = 1; while ((await ask(user(1))).code >= 429) tries++; same(tries, 1);`;
const shown = `console.log((await ask('')).error);`;
const untested = `await ask(user(1)).catch(() => undefined);`;

const programOf = (script: string) => ['--', process.execPath, '--input-type=module', '-e', common + script];
const sweep = async (script: string, flags: string, signal = new AbortController().signal) => {
  const argv = ['sweep', ...words(`--report json ${flags}`), ...programOf(script)];
  const { code, output, error } = await runCli(argv, { signal });
  assert.equal(error, '');
  const found: unknown = JSON.parse(output);
  assert.ok(validate(found), JSON.stringify(validate.errors));
  return { code, ...found };
};

// The skipped states take real time.
const all = '--skip timeout --skip slow:2s --parallel 3';
const trouble = 'limited limited-without-retry-after 503 502-html 200-html reset truncate';
const few = '--only membership-inverted --only executed-not-found --only security-headers';
const begins = '--only membership-begins';
const wrong = 'amount-in-cents time-in-seconds';
const unseen =
  'more-polls foreign-user-is-member pending-as-executed other-not-found other-error-text pending-longer';
const some = words(`${trouble} ${wrong} membership-inverted ${unseen} security-headers`)
  .map((id) => `--only ${id}`)
  .join(' ');
const clients: readonly (readonly [string, string, flags: string, code: number, string, string])[] = [
  ['a careful client', careful, all, 0, 'joined-next-day key-expires', 'membership-begins'],
  ['a careless client', careless, some, 1, `${trouble} ${wrong} membership-inverted`, unseen],
  ['without tests', untested, few, 1, 'membership-inverted', 'executed-not-found'],
  ['only advice', careless, '--only reset --only security-headers', 0, 'reset', ''],
  ['nothing reached', untested, '--only more-polls --only reset', 3, '', 'more-polls'],
  ['nobody looks again', `await ask(user(3));`, begins, 3, '', 'membership-begins'],
  [
    'a membership that begins is not seen',
    `await ask(user(3)); await ask(user(3));`,
    begins,
    3,
    'membership-begins',
    '',
  ],
  [
    'a membership that begins is seen',
    `for (const _ of [1, 2]) same((await ask(user(3))).is_under_ib, false);`,
    begins,
    3,
    '',
    '',
  ],
  [
    'a date in Retry-After is not read',
    `for (let tries = 0; (await ask(user(1))).code === 429;) if (++tries > 3) process.exit(1);`,
    '--only limited-until-date',
    1,
    'limited-until-date',
    '',
  ],
  ['a text is shown', shown, '--only other-error-text', 3, 'other-error-text', ''],
  ['tests count requests', counting, '--only 503 --only limited', 0, '', ''],
  [
    'tests count requests, and poll',
    `while ((await ask(deposit(7))).code !== 200);${counting}`,
    '--only 503 --only security-headers',
    0,
    '',
    '',
  ],
  ['what is unclear is strict', counting, '--only limited --strict', 1, '', ''],
  ['allowed', careless, '--only limited --allow repeat', 0, '', ''],
];
for (const [name, script, flags, code, failed, notReached] of clients)
  test(`a client: ${name}`, async () => {
    const found = await sweep(script, flags);
    const having = (wanted: string) => found.states.flatMap((one) => (one.outcome === wanted ? one.id : []));
    const expected = [words(failed), words(notReached), code];
    assert.deepEqual([having('failed'), having('notReached'), found.code], expected);
  });

test('deposits that polls execute are found, if the tests look at another one', async () => {
  const script = `for (let polls = 0; polls < 30 && (await ask(deposit(7))).code === 404; polls++);
    same((await ask(deposit(4))).code, 200);`;
  const [first] = (await sweep(script, '--only executed-not-found')).states;
  assert.deepEqual([first?.outcome, first?.run?.requests, first?.run?.changed], ['passed', 5, 1]);
});

test('each endpoint of each world gets the first failure, unless a test set it up, and the rules judge the client', async () => {
  const script = `for (const world of 'ab')
      for (const path of [user(1), user(2), deposit(4)]) while ((await ask(path, key + '~' + world)).code === 503);
    await fetch(url + '/__admin/clock?world=c', json);
    same((await ask(user(1), key + '~c')).code, 200);
    await fetch(url + '/api/ib/' + user(1) + '&key=' + btoa(key));`;
  const { states, rules, code } = await sweep(script, '--only 503');
  const [first] = states;
  assert.deepEqual([first?.outcome, first?.run?.requests, first?.run?.changed], ['passed', 12, 4]);
  const { outcome, states: shownBy } = rules.find(({ rule }) => rule === 'key-out-of-url')!;
  assert.deepEqual([outcome, shownBy, code], ['broken', ['unchanged', '503'], 1]);
});

test('advice is open in the headline, and counts with --strict', async () => {
  const flags = '--only reset --only security-headers';
  const reports = `--report junit=${place('a.xml')} --report console=${place('a.txt')}`;
  const { code, verdict, strict } = await sweep(careless, `${flags} --strict ${reports}`);
  assert.deepEqual([code, verdict, strict], [1, 'notReady', true]);
  assert.match(readFileSync(place('a.xml'), 'utf8'), /name="reset"[^>]*>\s*<failure type="failed"/);
  const headline = /\nnot ready, with open advice \(reset\): of the required states, 1 passed, in/;
  assert.match(readFileSync(place('a.txt'), 'utf8'), headline);
  const allowed = await sweep(careless, `${flags} --strict --allow reset`);
  assert.deepEqual([allowed.code, allowed.verdict], [0, 'ready']);
});

test('the command gets no proxy for the mock, beside those that the user has', async () => {
  const script = `const { NO_PROXY, no_proxy } = process.env;
    await ask(user(1));
    if (NO_PROXY !== 'a.test,127.0.0.1,localhost' || no_proxy !== NO_PROXY) process.exit(1);`;
  const argv = ['sweep', '--only', 'security-headers', ...programOf(script)];
  const { PATH } = process.env;
  for (const name of ['NO_PROXY', 'no_proxy'])
    await endsSaying(argv, 0, [], { env: { PATH, [name]: 'a.test' } });
});

test('a client that polls a wrong path for ever is stopped, and fails', () => {
  const run = { isGreen: false, ended: '', durationMs: 1, lines: [], requests: [], changed: 1 };
  const outcomeOf = (id: string, isStopped: boolean, allow = new Map<string, string>()) =>
    judgeState(id, { ...run, isStopped }, { allow, unchanged: undefined, rules: [] }).outcome;
  assert.equal(outcomeOf('wrong-path', false), 'passed');
  assert.equal(outcomeOf('wrong-path', true), 'failed');
  assert.equal(outcomeOf('wrong-path', true, new Map([['wrong-path', '']])), 'allowed');
  assert.equal(outcomeOf('executed-not-found', true), 'passed');
});

test('in parallel, a red run is repeated alone, unless it took the maximum', async () => {
  const flags = '--only timeout --only reset --parallel 2 --max-duration 10s';
  const { stderr } = await runCli(['sweep', ...words(flags), ...programOf(`await ask(user(1));`)]);
  assert.deepEqual(stderr.match(/^\w+: red/gm)?.toSorted(), ['reset: red', 'reset: red', 'timeout: red']);
});

test('if a run is red beside others but green alone, other red runs are repeated, too', async () => {
  const count = JSON.stringify(place('count'));
  const script = `const { appendFileSync, readFileSync } = await import('node:fs');
    appendFileSync(${count}, 'x');
    const runs = readFileSync(${count}, 'utf8').length;
    await ask(deposit(4));
    if (runs === 2 || runs === 3) process.exit(1);`;
  const flags = '--only security-headers --only executed-not-found --parallel 2';
  const { output, stderr } = await runCli(['sweep', ...words(flags), ...programOf(script)]);
  assert.match(
    stderr,
    /^security-headers: red beside other runs, but green alone.*\nexecuted-not-found: green, .*\(4 of 4\)$/m,
  );
  assert.match(output, /✓ security-headers .*✗ executed-not-found +green/s);
});

const secret = 'pk_live_8Kd0Zp3V5qRt';
const fixtureOf = (state: string) => {
  const apiKeys = [{ key: secret, partner: 'northwind', state }];
  return `--fixture ${fileOf(state, { partners: [{ id: 'northwind' }], apiKeys })}`;
};

const renaming = '--env A=url --env B=key --max-duration 1500h';
const renamed = 'if (!process.env.A || !process.env.B) process.exit(1);';
const refusals: readonly (readonly [flags: string, script: string | undefined, pattern: RegExp])[] = [
  ['', undefined, /give the command that runs the tests/],
  ['pytest -q', undefined, /Unknown argument: q; put -- before the command: .*sweep -- npm test/],
  ['', `console.log('1 failed'); process.exit(3)`, /^1 failed$.* unchanged mock \(exit code 3\)/ms],
  [renaming, renamed, /no request reached the mock.* from A .* from B;/],
  ['--max-duration 1.5ms', 'setInterval(() => 0, 1000)', /unchanged mock \(stopped after 0\.0 s\)/],
  ['--only amount-in-cent -- x', undefined, /did you mean amount-in-cents\? \(known: limited,/],
  ['--allow retries -- x', undefined, /--allow retries: there is no such rule or state .*known: wait,/],
  ['--env A=host -- x', undefined, /--env A=host: needs NAME=url or NAME=key/],
  [`-- ${folder}/nowhere`, undefined, /nowhere: cannot be started \(there is no such program\)/],
  [`${fixtureOf('revoked')} -- x`, undefined, /no active key of a partner/],
];
for (const [flags, script, pattern] of refusals)
  test(`refused: ${pattern.source}`, async () => {
    const argv = ['sweep', ...words(flags), ...(script === undefined ? [] : programOf(script))];
    const { code, output, stderr } = await runCli(argv);
    assert.match(stderr, pattern);
    assert.deepEqual([code, output], [2, '']);
  });

test('refused: a command in quotes', async () => {
  const fix = /npm test: .*no such program\); drop the quotes: `npx ib-conformance sweep -- npm test`/;
  await endsSaying(['sweep', '--', 'npm test'], 2, fix);
});

test('every format is written, and none contains a key', async () => {
  const [junit, markdown] = [place('a.xml'), place('a.md')];
  const flags = `--only security-headers --only more-polls --only reset --report junit=${junit} --report markdown=${markdown}`;
  const script = `console.log(key, '${secret}'); await ask(user(1));`;
  const program = programOf(script).toSpliced(2, 0, `--title=${secret}`);
  const argv = [...words(`sweep ${fixtureOf('active')} --show-output ${flags}`), ...program];
  const { output, stderr } = await endsSaying(argv, 1);
  assert.match(
    output,
    /✓ security-headers +green.*✗ reset +red.*→ retry.*\nnot ready, with open advice \(reset\): .*, 1 passed, broken:\s+key-out-of-output,\s+in/s,
  );
  assert.match(stderr, /^unchanged: <key of the run> <key northwind\/active>$/m);
  const files = [junit, markdown, new URL('../reports/junit.xsd', import.meta.url)];
  const [xml, table, schema] = files.map((file) => readFileSync(file, 'utf8'));
  assert.deepEqual(await xmlErrors([xml!], schema!), []);
  assert.match(
    xml!,
    /<testcase [^>]*name="security-headers"[^>]*>\s*<system-out>green.*<failure type="broken"/s,
  );
  // A rule that no request could break has none.
  assert.doesNotMatch(xml!, /Fix: ?"/);
  assert.match(table!, /\n- ✓ `security-headers` `?green: /);
  for (const text of [output, stderr, xml, table]) assert.ok(!text!.includes(secret));
});

test('an interruption ends the command and its child processes, and keeps the results', async (t) => {
  const server = createServer();
  const { port } = new URL(await serverFor(t, server));
  const stop = new AbortController();
  const ended = once(server, 'connection').then(([socket]) => {
    stop.abort('SIGINT');
    return once((socket as Socket).resume(), 'close');
  });
  const child = `process.on('SIGTERM', () => 0); require('net').connect(${port});`;
  const script = `
    if (!(await ask(user(1))).is_under_ib) {
      (await import('node:child_process')).spawn(process.execPath, ['-e', ${JSON.stringify(child)}]);
      setInterval(() => 0, 1000);
    }`;
  const { code, interrupted, states } = await sweep(script, `${few} --parallel 1`, stop.signal);
  await ended;
  const outcomes = states.map(({ outcome }) => outcome).join();
  assert.deepEqual([code, interrupted, outcomes], [130, true, 'passed,notRun,notRun']);
});
