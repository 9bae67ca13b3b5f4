/**
 * Runs the commands of `docs/provide-data.md` with a temporary PostgreSQL (`npm test examples`). The servers in
 * `examples/` must be conformant, and `verify` must find each mistake that is put into them.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { after, before, describe, test, type TestContext } from 'node:test';
import type { RunRecord } from '../../../schemas/generated/types.ts';
import { waitForExit, waitForLine } from '../../testing/child-process.ts';
import { packagedProgram } from '../../testing/packaged.ts';
import { parsePage } from '../docs/markdown.ts';
import { readJson, root } from '../paths.ts';
import { skipWithout } from '../skip-without.ts';

/** Mistakes to put into an example, and the requirements that must fail. The placeholder depends on the language. */
const mistakes = (placeholder: string) => [
  {
    what: 'the message of 404 ends in a dot',
    from: '"Deposit not found"',
    to: '"Deposit not found."',
    fails: ['foreign-ib/deposit-check/unknown', 'pending/deposit-check/pending'],
  },
  {
    what: "another partner's deposit is visible",
    from: `users.partner = ${placeholder} AND`,
    to: `(users.partner = ${placeholder} OR true) AND`,
    fails: ['foreign-ib/deposit-check/other-ib'],
  },
];
/** Only in one server, because the run waits for windows. A limit near or above the stated one needs a fast machine. */
const tightLimiter = {
  what: 'fewer requests pass than stated',
  from: 'Limiter(60, 3)',
  to: 'Limiter(10, 3)',
  fails: ['rate-limit/user-status/failed-lookups'],
};
const exampleServers = [
  { heading: 'Python', file: 'examples/python/server.py', breaks: [...mistakes('%s'), tightLimiter] },
  { heading: 'Java', file: 'examples/java/Server.java', breaks: mistakes('?') },
];

const guide = readFileSync(join(root, 'docs/provide-data.md'), 'utf8');
// `npm test docs` runs the block without a database.
const blocks = parsePage(guide).blocks.filter(({ heading }) => heading !== 'Large fixtures');
const command = (heading: string) =>
  blocks.find((block) => block.heading === heading)?.text ?? assert.fail(`no commands under "${heading}"`);
const [doctor = '', verify = ''] = command('Verify').trim().split('\n');

test('this file runs every command of the guide', () => {
  const run = ['Make the data', 'Fill a database', 'Start a state hook', 'Verify', 'Begin anew'];
  assert.deepEqual(
    blocks.map(({ heading }) => heading).toSorted(),
    [...run, ...exampleServers.map(({ heading }) => heading)].toSorted(),
  );
  assert.equal(command('Verify'), `${doctor}\n${verify}\n`);
});

const works = (program: string, ...argv: readonly string[]) => spawnSync(program, argv).status === 0;
/** Debian's Python has the driver; another one in the path may lack it. */
const PYTHON = '/usr/bin/python3';
const needed: Readonly<Record<string, boolean>> = {
  postgresql: works('pg_virtualenv', 'true'),
  'python3-psycopg2': works(PYTHON, '-c', 'import psycopg2'),
  'default-jdk-headless': works('javac', '-version'),
  'libpostgresql-jdbc-java': existsSync('/usr/share/java/postgresql.jar'),
};
const missing = Object.keys(needed).filter((name) => !needed[name]);

if (missing.length > 0) test('the examples', (t) => skipWithout(t, missing.join(', ')));
else describe('the guide on data', { concurrency: true }, checkExamples);

/** A folder with the examples, and a database that is filled as the guide says. */
interface Site {
  readonly folder: string;
  env: NodeJS.ProcessEnv;
  postgres?: ChildProcess;
  /** Number of copies of the database. */
  copies: number;
}

function checkExamples(): void {
  const site: Site = { folder: mkdtempSync(join(tmpdir(), 'ib-conformance-examples-')), env: {}, copies: 0 };
  before(() => fill(site));
  after(async () => {
    site.postgres!.stdin!.end();
    await once(site.postgres!, 'exit');
    rmSync(site.folder, { recursive: true });
  });

  for (const server of exampleServers)
    // Most of the time is waiting for windows of the limiters.
    describe(`the server in ${server.heading}`, { concurrency: 2 }, () => checkServer(site, server));

  test('the database can be removed and filled again', async () => {
    const again = command('Fill a database') + command('Begin anew') + command('Fill a database');
    await shell(site, again.replaceAll('testdb', 'other'));
  });
}

async function fill(site: Site): Promise<void> {
  const { folder } = site;
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const programs = { 'ib-conformance': packagedProgram, python3: PYTHON, npx: '' };
  for (const [name, path] of Object.entries(programs))
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${path} "$@"\n`, { mode: 0o755 });
  cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true });
  site.postgres = spawn('pg_virtualenv', ['-o', 'fsync=off', 'sh', '-c', 'env | grep ^PG; echo ready; cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  site.env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, GITHUB_ACTIONS: '' };
  for await (const line of createInterface(site.postgres.stdout!)) {
    if (line === 'ready') break;
    const [, name, value] = /^(PG\w+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined) site.env[name] = value;
  }
  await shell(site, command('Make the data') + command('Fill a database'));
}

function bash({ folder, env }: Site, script: string, cwd = folder, database = env['PGDATABASE']) {
  return spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd,
    env: { ...env, PGDATABASE: database },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs commands of the guide, checks their exit code and returns their output. */
async function shell(site: Site, script: string, expectedCode = 0, cwd = site.folder): Promise<string> {
  const { code, stdout, stderr } = await waitForExit(bash(site, script, cwd));
  assert.equal(code, expectedCode, `${script}\n${stdout}${stderr}`);
  return stdout;
}

/** Starts a server and a state hook with a copy of the database, so that tests can run in parallel. */
async function startCase(site: Site, t: TestContext, server: string, change?: (cwd: string) => void) {
  const database = `copy${(site.copies += 1)}`;
  const cwd = join(site.folder, database);
  for (const name of ['examples', 'fixture.json'])
    cpSync(join(site.folder, name), join(cwd, name), { recursive: true });
  change?.(cwd);
  await shell(site, `createdb --template testdb ${database}`);
  const start = async (script: string) => {
    const child = bash(site, `exec ${script.replace(/\b80[89]0\b/, '0')}`, cwd, database);
    const stop = async () => {
      if (child.kill()) await once(child, 'exit');
    };
    t.after(stop);
    const { line, stderr } = await waitForLine(child);
    const url = line.replace('listening on ', '');
    // Only this machine can reach it: it listens on no other address.
    await assert.rejects(fetch(url.replace('127.0.0.1', '127.0.0.2')), /fetch failed/);
    return { url, stop, stderr };
  };
  const hook = await start(command('Start a state hook'));
  const running = await start(command(server));
  const run = (line: string, expectedCode: number) =>
    shell(
      site,
      line.replace('http://127.0.0.1:8080', running.url).replace('http://127.0.0.1:8090', hook.url),
      expectedCode,
      cwd,
    );
  const record = () => readJson<RunRecord>(join(cwd, 'run.json'));
  return { ...running, run, record };
}

const idsOf = ({ requirements }: RunRecord, ...outcomes: readonly string[]) =>
  requirements.filter(({ outcome }) => outcomes.includes(outcome)).map(({ id }) => id);

function checkServer(site: Site, { heading, file, breaks }: (typeof exampleServers)[number]) {
  test('is conformant, with all requirements verified', async (t) => {
    const { url, run, record, stop, stderr } = await startCase(site, t, heading);
    await run(doctor, 0);
    const stdout = await run(`${verify} --report console --report json=run.json`, 0);
    await assertOneAnswer(url);
    await stop();
    // It logs nothing, above all no key.
    assert.equal(await stderr, '');
    assert.deepEqual(idsOf(record(), 'failed', 'inconclusive', 'excluded', 'broken'), []);
    const { required, recommended } = record().counts;
    const words = `conformant: ${required.passed} of ${required.passed} required verified, ${recommended.passed} of ${recommended.passed} recommended`;
    assert.ok(stdout.includes(words), stdout);
    assert.ok(guide.includes(words), words);
  });

  for (const { what, from, to, fails } of breaks)
    test(`is nonconformant if ${what}`, async (t) => {
      const { run, record } = await startCase(site, t, heading, (cwd) => {
        const whole = readFileSync(join(root, file), 'utf8');
        assert.equal(whole.split(from).length, 2, `${file} has ${from} once`);
        writeFileSync(join(cwd, file), whole.replace(from, to));
      });
      const only = fails.map((id) => `--only ${id}`).join(' ');
      await run(`${verify} ${only} --report json=run.json`, 1);
      assert.deepEqual(idsOf(record(), 'failed'), fails);
    });
}

/** Checks that a GET with a body of unknown length gets one response: the body is not another request. */
async function assertOneAnswer(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const head = 'GET /api/ib/user-status HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
  socket.end(`${head}4\r\nbody\r\n0\r\n\r\n`);
  const [answered = '', body = '', ...more] = (await text(socket)).split('\r\n\r\n');
  assert.match(answered, /^HTTP\/1\.1 4/);
  assert.match(body, /^\{"error": ?"[\w ]+"\}$/);
  assert.deepEqual(more, []);
}
