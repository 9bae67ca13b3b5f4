/**
 * Compares the packed mock with bare servers, and a run with a loop that only sends. With `--against folder`, also
 * with another checkout. Needs Linux and a quiet machine: `npm run bench -- --against ../before --rounds 3`.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import builtIn from '../../schemas/built-in.fixture.json' with { type: 'json' };
import type { RunRecord } from '../../schemas/generated/types.ts';
import { install } from './package/install.ts';
import { readJson, root } from './paths.ts';

/** Figures of one measurement, by column. */
type Sample = Readonly<Record<string, number>>;
/** By row: measures once. The first row is the reference. */
type Table = Readonly<Record<string, () => Promise<Sample>>>;
type CommandLine = readonly [program: string, ...words: string[]];

const execute = promisify(execFile);

const { values } = parseArgs({
  options: { against: { type: 'string' }, rounds: { type: 'string', default: '5' } },
});
const installed = await install();
const other = values.against === undefined ? undefined : await install(resolve(values.against));
const programs = { 'this checkout': installed.command, ...(other && { [values.against!]: other.command }) };

const port = '24001';
const origin = `http://127.0.0.1:${port}`;
/** A lookup that every server answers with 200. */
const lookup = {
  path: `/api/ib/user-status?user_id=${builtIn.users[0]!.user_id}`,
  method: 'GET',
  headers: { authorization: `Bearer ${builtIn.apiKeys[0]!.key}` },
} as const;
const { limits: _, ...withoutLimits } = builtIn;
const fixture = join(installed.folder, 'no-limits.json');
writeFileSync(fixture, JSON.stringify(withoutLimits));

const script = (text: string): CommandLine => [process.execPath, '-e', text];
const body = '{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}';
const bareHttp = script(
  `require('node:http').createServer((_, response) => response.end('${body}')).listen(${port}, '127.0.0.1')`,
);
const barePolka = script(
  `require('polka')().get('/api/ib/user-status', (_, response) => response.end('${body}')).listen(${port}, '127.0.0.1')`,
);
const mockOf = (program: string): CommandLine => [
  program,
  ...`mock --port ${port} --log silent --fixture ${fixture}`.split(' '),
];

async function isUp(): Promise<boolean> {
  const response = await fetch(origin + lookup.path, lookup).catch(() => undefined);
  await response?.arrayBuffer();
  return response?.status === 200;
}

/** Starts a server and waits for its first 200. */
async function start([program, ...words]: CommandLine) {
  const begin = performance.now();
  const child = spawn(program, words, { cwd: root, stdio: 'ignore' });
  const exited = once(child, 'exit');
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error(`${program} exited`);
    await wait(2);
  }
  const end = async () => {
    child.kill();
    await exited;
  };
  return { pid: child.pid!, ms: performance.now() - begin, [Symbol.asyncDispose]: end };
}

/** Returns the processor time of a process in seconds. */
function processorOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Fields 12 and 13 after the name in brackets: user and system time, in hundredths of a second.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Sends the lookup as often as its argument says. */
const loop = script(`const { Pool } = require(${JSON.stringify(join(root, 'node_modules/undici'))});
const pool = new Pool('${origin}', { connections: 16 });
let left = Number(process.argv[1]);
const send = async () => {
  const { statusCode, body } = await pool.request(${JSON.stringify(lookup)});
  await body.text();
  if (statusCode !== 200) throw new Error('a lookup got ' + statusCode);
};
const worker = async () => { while (left-- > 0) await send(); };
Promise.all(Array.from({ length: 16 }, worker)).then(() => pool.close());`);

async function load(count: number): Promise<void> {
  const [program, ...words] = loop;
  await execute(program, [...words, String(count)]);
}

async function measureServer(server: CommandLine): Promise<Sample> {
  await using running = await start(server);
  // Code is compiled at first.
  await load(5000);
  const before = processorOf(running.pid);
  await load(LONG);
  return {
    'processor µs a request': ((processorOf(running.pid) - before) / LONG) * 1e6,
    'ms to the first 200': running.ms,
  };
}

/** Runs a command line, and returns the processor time of all its threads in seconds. */
async function processorTime(...line: CommandLine): Promise<number> {
  const timed = ['-c', `TIMEFORMAT='%U %S'; time "$@" >/dev/null 2>&1; true`, 'bash', ...line];
  const env = { ...process.env, CI: '' };
  const { stderr } = await execute('bash', timed, { cwd: installed.folder, env });
  return stderr.split(/\s+/).reduce((sum, seconds) => sum + Number(seconds), 0);
}

const [SHORT, LONG] = [5000, 30_000];

/** Measures the processor time of each request that a long run sends more than a short one. */
async function measureRequests(run: (count: number) => Promise<{ seconds: number; requests: number }>) {
  await using _running = await start(mockOf(installed.command));
  const [short, long] = [await run(SHORT), await run(LONG)];
  return {
    'processor µs a request': ((long.seconds - short.seconds) / (long.requests - short.requests)) * 1e6,
  };
}

const runLoop = async (requests: number) => ({
  seconds: await processorTime(...loop, String(requests)),
  requests,
});

async function runVerify(program: string, cases: number) {
  const record = join(installed.folder, 'run.json');
  rmSync(record, { force: true });
  const flags = ['--fixture', fixture, '--seed', '1', '--cases', String(cases), '--report', `json=${record}`];
  const seconds = await processorTime(program, 'verify', origin, ...flags);
  return { seconds, requests: readJson<RunRecord>(record).requests };
}

const byProgram = (measure: (program: string) => Promise<Sample>): Table =>
  Object.fromEntries(Object.entries(programs).map(([name, program]) => [name, () => measure(program)]));

const tables: Readonly<Record<string, Table>> = {
  mock: {
    'bare node:http': () => measureServer(bareHttp),
    'bare polka': () => measureServer(barePolka),
    ...byProgram((program) => measureServer(mockOf(program))),
  },
  'a long run of verify': {
    'a loop that only sends': () => measureRequests(runLoop),
    ...byProgram((program) => measureRequests((cases) => runVerify(program, cases))),
  },
  'verify mock': byProgram(async (program) => ({
    'processor, s': await processorTime(program, 'verify', 'mock', '--seed', '1'),
  })),
};

/** Measures each row once a round, and prints medians. Every second round is in reverse order. */
async function print(name: string, table: Table): Promise<void> {
  const samples = new Map(Object.keys(table).map((row) => [row, [] as Sample[]]));
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const rows = Object.entries(table);
    for (const [row, measure] of round % 2 === 0 ? rows : rows.toReversed())
      samples.get(row)!.push(await measure());
  }
  const medianOf = (row: string, column: string) => {
    const sorted = samples
      .get(row)!
      .map((sample) => sample[column]!)
      .toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)]!;
  };
  const [first = ''] = samples.keys();
  const columns = Object.keys(samples.get(first)![0]!);
  for (const row of samples.keys())
    for (const column of columns) {
      const median = medianOf(row, column);
      const ratio = (median / medianOf(first, column)).toFixed(2);
      process.stdout.write(
        `${name}, ${column}: ${median.toPrecision(3)} (${ratio} times ${first}), ${row}\n`,
      );
    }
}

try {
  for (const [name, table] of Object.entries(tables)) await print(name, table);
} finally {
  for (const one of [installed, other]) if (one !== undefined) rmSync(one.folder, { recursive: true });
}
