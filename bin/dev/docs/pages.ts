import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import manifest from '../../../package.json' with { type: 'json' };
import { root } from '../paths.ts';
import { skipWithout } from '../skip-without.ts';
import type { Reader } from './reader.ts';

/** Checks a code block: runs it as a reader would, or compares it. */
type Runner = (text: string, reader: Reader, t: TestContext) => void | Promise<void>;

/** Flags for a short run of `verify`. */
const SHORT = ' --cases 100';

/** Flags instead of answers to the questions of `init`. */
const INIT_ANSWERS =
  ' --yes --force --url http://localhost:8080/gateway --member aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa --executed dddddddd-dddd-4ddd-8ddd-dddddddddddd';

/**
 * Runs the commands of a block, one per line. A mock keeps running.
 *
 * @param codes expected exit codes by line; default 0
 */
const commands =
  (...codes: readonly number[]): Runner =>
  async (text, reader) => {
    for (const [index, written] of text.trim().split('\n').entries()) {
      // Without --fail, curl succeeds for any status.
      const line = written.replace(/^curl /, 'curl --fail ');
      const isWhole = / verify http/.test(line) && !/ --only\b/.test(line);
      const isRun = / verify\b/.test(line);
      const flags = (isWhole ? ' --only valid' : '') + (isRun ? SHORT : '');
      if (/ib-conformance mock\b/.test(line)) await reader.serve(line);
      else await reader.run(line + (line.endsWith(' init') ? INIT_ANSWERS : flags), codes[index]);
    }
  };

/**
 * Writes the block to a file and runs a command that uses it.
 *
 * @param needs a command that fails if the machine lacks a tool
 */
const file =
  (name: string, command = 'true', needs = 'true'): Runner =>
  async (text, reader, t) => {
    if (!reader.succeeds(needs)) return skipWithout(t, `this works: ${needs}`);
    reader.write(name, reader.withLocalUrls(text));
    await reader.run(command);
  };

/** Checks that a file of this repository contains the block. */
const excerptOf =
  (name: string): Runner =>
  (text) =>
    assert.ok(readFileSync(join(root, name), 'utf8').includes(text), `${name} differs`);

/** Checks that the last command printed the block. Parts may be left out at empty lines. */
const lastOutput: Runner = (text, reader) => {
  let from = 0;
  for (const part of reader.withLocalUrls(text).trim().split('\n\n')) {
    from = reader.last().indexOf(`\n${part}\n`, from);
    assert.notEqual(from, -1, `this is not printed:\n${part}\nbut\n${reader.last()}`);
  }
};

/** Checks that the last command printed the JSON of the block, except for numbers and times. */
const lastJson: Runner = (text, reader) => assert.deepEqual(withoutTimes(reader.last()), withoutTimes(text));

const withoutTimes = (json: string): unknown =>
  JSON.parse(json, (_, value: unknown) => {
    const isTime = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
    return typeof value === 'number' || isTime ? typeof value : value;
  });

/** Checks that CI runs every command of the block, directly or by an npm script. */
const runByCi: Runner = (text) => {
  const { scripts } = manifest as { readonly scripts: Readonly<Record<string, string>> };
  const withScripts = (shell: string): string =>
    shell.replace(/npm (?:run )?([\w:]+)/g, (call, name: string) =>
      Object.hasOwn(scripts, name) ? `${call} ${withScripts(scripts[name]!)}` : call,
    );
  const run = withScripts(readFileSync(join(root, '.ci/run'), 'utf8'));
  for (const command of text.trim().split(/\n| && /)) assert.ok(run.includes(command), command);
};

/** Another file checks the block; `word` is a text in that file that proves it. */
const checkedBy =
  (check: string, word: string): Runner =>
  () =>
    assert.ok(readFileSync(join(root, check), 'utf8').includes(word), `${check} lacks ${word}`);

const ci = checkedBy('bin/dev/action.test.ts', 'docs/ci.md');
const image = checkedBy('bin/dev/container.test.ts', 'docs/mock.md');

/** In every page, the server at this port swaps day and month. */
const verify = 'npx ib-conformance verify http://127.0.0.1:4998';

const typescript = (name: string) => file(name, `node --import "$TSX" ${name}`);
const tests = (name: string) => file(name, `node --import "$TSX" --test ${name}`);
const vitest = (name: string) => file(name, `npx vitest run ${name}`, 'npx vitest --version');
/** Runs tests once with their own mock, and twice with a running one. */
const pytest = (name: string) => {
  const command = `python3 -m pytest -q ${name}`;
  const withUrl = `export IB_CONFORMANCE_MOCK_URL=http://127.0.0.1:4010 && ${command} && ${command}`;
  return file(name, `${command} && ${withUrl}`, 'python3 -m pytest --version');
};
const hook = file(
  'state.json',
  'curl -sSf -H "Content-Type: application/json" -d @state.json http://localhost:8090',
);
/** Runs a run with all changes that need the hook. Each must be verified. */
const changes: Runner = (text, reader, t) =>
  commands()(`${text.trim()}${needHook.map((id) => ` --only ${id}`).join('')}\n`, reader, t);
const needHook = [
  'pending/deposit-check/becomes-executed',
  'auth/user-status/revocation',
  'auth/deposit-check/revocation',
];

/** Starts the state hook of a page. Its functions change the data of the page's server. */
const stateHook: Runner = async (text, reader) => {
  reader.write('test-data.js', reader.withLocalUrls(testData));
  const port = await freePort();
  reader.write('state-hook.js', text.replace('8090', String(port)));
  await reader.startServer('node state-hook.js', port, 'http://localhost:8090');
};
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
const testData = `const change = async (state, params, action) => {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ state, params, action });
  const { ok } = await fetch('http://localhost:8090', { method: 'POST', headers, body });
  if (!ok) throw new Error(state);
};
export const setKey = (key, state) => change('key revoked', { key }, state === 'revoked' ? 'setup' : 'teardown');
export const setDeposit = (reference_id, { state, ...params }) =>
  change('deposit executed', { reference_id, ...params }, state === 'EXECUTED' ? 'setup' : 'teardown');
`;

/** Runs `init`. The rest of the page uses the whole fixture of the server. */
const initialised: Runner = async (text, reader, t) => {
  await commands(0, 0, 3)(text, reader, t);
  await reader.run('cp schemas/built-in.fixture.json fixture.json');
};

/** Runs commands that write a new fixture, and SQL, which a database must accept. */
const intoSqlite: Runner = async (text, reader, t) => {
  await commands()(text, reader, t);
  const script = "import sqlite3; sqlite3.connect(':memory:').executescript(open('data.sql').read())";
  await reader.run(`python3 -c "${script}"`);
};

/** A client that waits after a 429. */
const client = `
export class Client {
  constructor(url, key) {
    this.depositOf = async (id) => {
      const headers = { Authorization: 'Bearer ' + key };
      for (;;) {
        const answer = await fetch(url + '/api/ib/deposit-check?reference_id=' + id, { headers });
        if (answer.status !== 429) return answer.json();
        await new Promise((wait) => setTimeout(wait, answer.headers.get('Retry-After') * 1000));
      }
    };
  }
}`;

/** What the page shows before the block that prints it. */
let sweepOutput = '';

/** Runs a sweep with only a few states. */
const runSweep =
  (code = 0): Runner =>
  (text, reader, t) => {
    const few =
      'sweep --only limited --only amount-in-cents --only time-in-seconds --only foreign-user-is-member';
    const line = text.replace('sweep', few);
    return commands(code)(line, reader, t);
  };

/** Pages whose first block is the fixture of their server. Others use the built-in fixture. */
export const withOwnFixture: readonly string[] = ['docs/fixture.md'];

/** By page: a runner for each code block. */
export const pages: Readonly<Record<string, readonly Runner[]>> = {
  // The first run of a small fixture is incomplete.
  'README.md': [runByCi, commands(0, 0, 3), intoSqlite, commands(), commands(), commands()],
  'docs/verify.md': [
    initialised,
    file('known.json', `${verify} --fixture fixture.json --only valid --baseline known.json${SHORT}`),
    file(
      'given.json',
      'TOKEN=t npx ib-conformance verify mock --only valid/user-status/member --config given.json',
    ),
  ],
  'docs/answers.md': [commands(), lastOutput, commands(), commands()],
  'docs/how-it-works.md': [
    excerptOf('suites/requirements/foreign-ib.ts'),
    excerptOf('mock/deviations/faults.ts'),
    commands(0, 1),
  ],
  'docs/fixture.md': [
    file('fixture.json', 'npx ib-conformance doctor http://localhost:8080/gateway --fixture fixture.json'),
    intoSqlite,
    commands(),
    commands(),
  ],
  'docs/rate-limits.md': [
    file('limits.json', 'npx ib-conformance fixture --from limits.json --format sql'),
    commands(),
    commands(),
  ],
  'docs/state-hook.md': [stateHook, changes, hook, hook, commands()],
  'docs/ci.md': [ci, ci, ci],
  'docs/mock.md': [commands(), commands(), image, image, image],
  'docs/admin-api.md': [commands(), lastJson, commands(), typescript('controls.ts')],
  'docs/mock-in-tests.md': [
    tests('node.test.ts'),
    vitest('fetch.test.ts'),
    pytest('test_deposits.py'),
    tests('conformance.test.ts'),
    typescript('verify.ts'),
  ],
  'docs/sweep.md': [
    checkedBy('bin/sweep.test.ts', "'sweep'"),
    async (text) => void (sweepOutput = text),
    async (text, reader, t) => {
      reader.write('client.js', client);
      await file('own.test.js', 'node --test own.test.js')(text, reader, t);
    },
    async (text, reader, t) => {
      await runSweep(1)(text, reader, t);
      await lastOutput(sweepOutput, reader, t);
    },
    async (text, reader, t) => {
      reader.write('line', `  ${text}`);
      await reader.run("sed -i -e '/assert.equal/{r line' -e 'd}' own.test.js");
      await runSweep()('npx ib-conformance sweep -- node --test own.test.js', reader, t);
    },
    file(
      'allow.json',
      'npx ib-conformance sweep --config allow.json --only amount-in-cents -- node --test own.test.js',
    ),
  ],
};
