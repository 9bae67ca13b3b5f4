/**
 * Runs the commands of `docs/provide-data.md` against a PostgreSQL of its own (`npm run test:examples`): the servers in
 * `examples/` are conformant, and are found out once their text is broken.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { RunRecord } from '../../../schemas/generated/types.ts';
import { begun, ended } from '../../testing/child-process.ts';
import { blocksOf } from '../docs/markdown.ts';
import { root } from '../paths.ts';
import { skipWithout } from '../skip-without.ts';
import { exampleServers } from './servers.ts';

/** What is run elsewhere: it takes no database. */
const other = 'Large fixtures';
const blocks = blocksOf(readFileSync(join(root, 'docs/provide-data.md'), 'utf8')).filter(
  ({ heading }) => heading !== other,
);
const command = (heading: string) =>
  blocks.find((block) => block.heading === heading)?.text ?? assert.fail(`no commands under "${heading}"`);

/** Debian's Python has the driver; another one that is first in the path may lack it. */
const python = ['python3', '/usr/bin/python3'].find((program) => succeeds(program, '-c', 'import psycopg2'));
const missing = [
  ...(succeeds('pg_virtualenv', 'true') ? [] : ['postgresql']),
  ...(python === undefined ? ['python3-psycopg2'] : []),
  ...(succeeds('javac', '-version') ? [] : ['default-jdk-headless']),
  ...(existsSync('/usr/share/java/postgresql.jar') ? [] : ['libpostgresql-jdbc-java']),
];

function succeeds(program: string, ...argv: readonly string[]): boolean {
  return spawnSync(program, argv).status === 0;
}

/** Starts an empty PostgreSQL with Debian's pg_virtualenv; its variables tell libpq where it is. */
async function startPostgres() {
  const child = spawn('pg_virtualenv', ['-o', 'fsync=off', 'sh', '-c', 'env | grep ^PG; echo ready; cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const env: Record<string, string> = {};
  for await (const line of createInterface(child.stdout)) {
    if (line === 'ready') break;
    const [, name, value] = /^(PG\w+)=(.*)$/.exec(line) ?? [];
    if (name !== undefined) env[name] = value!;
  }
  const stop = async () => {
    const exited = once(child, 'exit');
    child.stdin.end();
    await exited;
  };
  return { env, stop };
}

test('the check runs every command of the guide', () => {
  const run = ['Make the data', 'Fill a database', 'Start a state hook', 'Verify', 'Begin anew'];
  assert.deepEqual(
    blocks.map(({ heading }) => heading).toSorted(),
    [...run, ...exampleServers.map(({ heading }) => heading)].toSorted(),
  );
});

if (missing.length > 0) test('the examples', (t) => skipWithout(t, missing.join(', ')));
else describe('the guide on data', () => checkExamples(python!));

function checkExamples(pythonProgram: string) {
  const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-examples-'));
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  let env: NodeJS.ProcessEnv = {};
  const under = new Set<ChildProcess>();

  /** Runs commands as they stand in the guide, and gives their exit code and all that they said. */
  const shell = async (script: string) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { code, printed, complaint } = await ended(child);
    return { code, said: printed + complaint };
  };

  /** Starts what listens, on a free port in place of the guide's, and gives its URL. */
  const start = async (script: string) => {
    const child = spawn('bash', ['-c', `exec ${script.replace(/\b80[89]0\b/, '0')}`], {
      cwd: folder,
      env: { ...env, PGDATABASE: 'testdb' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    under.add(child);
    const { line, complaint } = await begun(child);
    const url = line.replace('listening on ', '');
    // Nobody but this machine gets at it: that would be at its other addresses, too.
    await assert.rejects(fetch(url.replace('127.0.0.1', '127.0.0.2')), /fetch failed/);
    return {
      url,
      /** Ends it, and gives what it complained of. */
      stop: async () => {
        await end(child);
        return await complaint;
      },
    };
  };
  const end = async (child: ChildProcess) => {
    under.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill();
    await exited;
  };

  let hook = '';
  /** The guide's commands under "Verify", each with its flags. */
  const [doctor = '', verifying = '', ...more] = command('Verify').trim().split('\n');
  assert.deepEqual(more, [], 'every command under "Verify" is run');
  const of = (url: string, line: string) =>
    line.replace('http://127.0.0.1:8080', url).replace('http://127.0.0.1:8090', hook);
  const verify = async (url: string, flags: readonly string[]) => {
    const { code, said } = await shell(
      `${of(url, verifying)} ${flags.join(' ')} --report console --report json=run.json`,
    );
    const record = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as RunRecord;
    rmSync(join(folder, 'run.json'));
    return { code, said, record };
  };
  const idsOf = ({ requirements }: RunRecord, ...outcomes: readonly string[]) =>
    requirements.filter(({ outcome }) => outcomes.includes(outcome)).map(({ id }) => id);

  before(async () => {
    const bin = join(folder, 'node_modules/.bin');
    mkdirSync(bin, { recursive: true });
    symlinkSync(join(root, 'bin/ib-conformance.mjs'), join(bin, 'ib-conformance'));
    const found = spawnSync('bash', ['-c', `command -v ${pythonProgram}`], {
      encoding: 'utf8',
    }).stdout.trim();
    mkdirSync(join(folder, 'path'));
    symlinkSync(found, join(folder, 'path/python3'));
    for (const name of ['examples', 'bin/dev/examples'])
      cpSync(join(root, name), join(folder, name), { recursive: true });
    postgres = await startPostgres();
    const path = [join(folder, 'path'), process.env['PATH']].join(':');
    env = { ...process.env, ...postgres.env, PATH: path, GITHUB_ACTIONS: '' };
    const { code, said } = await shell(command('Make the data') + command('Fill a database'));
    assert.equal(code, 0, said);
    hook = (await start(command('Start a state hook'))).url;
  });
  after(async () => {
    await Promise.all([...under].map(end));
    await postgres?.stop();
    rmSync(folder, { recursive: true });
  });

  for (const { heading, file, checksLimiter, breaks } of exampleServers)
    describe(`the server in ${heading}`, () => {
      test('is conformant, with nothing left out', async () => {
        const server = await start(command(heading));
        const examined = await shell(of(server.url, doctor));
        assert.equal(examined.code, 0, examined.said);
        const { code, said, record } = await verify(server.url, []);
        await assertOneAnswer(server.url);
        // Neither a key nor anything else.
        assert.equal(await server.stop(), '');
        assert.equal(code, 0, said);
        assert.equal(record.verdict, 'conformant');
        assert.deepEqual(idsOf(record, 'failed', 'inconclusive', 'excluded', 'broken'), []);
        const { required, recommended } = record.counts;
        const words = `conformant: ${required.passed} of ${required.passed} required verified, ${recommended.passed} of ${recommended.passed} recommended`;
        assert.ok(said.includes(words), said);
        assert.ok(readFileSync(join(root, 'docs/provide-data.md'), 'utf8').includes(words), words);
      });

      test('looks and counts in one step', async () => {
        const { code, said } = await shell(checksLimiter);
        assert.deepEqual([code, said.trim()], [0, 'ok']);
      });

      for (const { what, from, to, flags, fails } of breaks)
        test(`is found out where ${what}`, async () => {
          const whole = readFileSync(join(root, file), 'utf8');
          assert.equal(whole.split(from).length, 2, `${file} has ${from} once`);
          writeFileSync(
            join(folder, file),
            whole.replace(from, () => to),
          );
          const server = await start(command(heading));
          const { code, said, record } = await verify(server.url, ['--no-canary', ...flags]);
          await server.stop();
          writeFileSync(join(folder, file), whole);
          assert.equal(code, 1, said);
          assert.deepEqual(idsOf(record, 'failed'), fails);
        });
    });

  test('the database is removed, and filled anew', async () => {
    await Promise.all([...under].map(end));
    const { code, said } = await shell(command('Begin anew') + command('Fill a database'));
    assert.equal(code, 0, said);
  });
}

/** Holds that there is one answer to a GET whose body does not say how long it is: the body is no request of its own. */
async function assertOneAnswer(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const head = 'GET /api/ib/user-status HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
  socket.end(`${head}4\r\nbody\r\n0\r\n\r\n`);
  const [answered, body = '', ...more] = (await text(socket)).split('\r\n\r\n');
  assert.match(answered!, /^HTTP\/1\.1 4/);
  assert.match(body, /^\{"error": ?"[\w ]+"\}$/);
  assert.deepEqual(more, []);
}
