/** Measures the installed package and bare servers (`npm run bench`). Needs Linux, an idle machine and half an hour. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import builtIn from '../../../schemas/built-in.fixture.json' with { type: 'json' };
import type { Fixture, FixtureLimits, RunRecord } from '../../../schemas/generated/types.ts';
import { limitsOf } from '../../testing/verify-mock.ts';
import { install } from '../package/install.ts';
import { readJson } from '../paths.ts';
import { bareCost, buildFirstRelease, marginalCost, processorOf } from './processor.ts';
import { bareHttp, barePolka, load, thisPackage, start } from './servers.ts';

/** Figures of one measurement, by column. */
type Sample = Readonly<Record<string, number>>;
/** By row: a function that measures once. The first row is the reference. */
type Rows = Readonly<Record<string, () => Promise<Sample>>>;

const { folder, command } = await install();
const servers = [bareHttp, thisPackage(command)];
const run = promisify(execFile);

/** Runs a command line and returns the seconds from the start of its process to its exit. */
async function timed(line: string, environment: NodeJS.ProcessEnv = {}): Promise<number> {
  const begin = performance.now();
  const env = { ...process.env, CI: '', ...environment };
  await run(command, line.split(' '), { cwd: folder, env }).catch((error: unknown) => {
    // A run with few lookups exits as incomplete.
    if ((error as { readonly code?: unknown }).code !== 3) throw error;
  });
  return (performance.now() - begin) / 1000;
}

/** Writes a fixture and returns its file. */
function fixtureFile(name: string, content: Fixture): string {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(content));
  return file;
}
const { limits: _, ...withoutLimits } = builtIn as Fixture;
const unlimited = fixtureFile('no-limits', withoutLimits);

/** Returns the command line to verify a running mock without limits. */
const verifyCommand = ({ origin }: { readonly origin: string }) =>
  `verify ${origin} --fixture ${unlimited} --seed 1`;

/** Measures the time from the start of `npx ib-conformance verify` to its first request. */
async function timeToFirstRequest(): Promise<Sample> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const begin = performance.now();
  const argv = ['--offline', 'ib-conformance', 'verify', url, '--fixture', unlimited];
  // Otherwise `npx --package node@24 npm run bench` would set the package of this npx too.
  const env = { ...process.env, npm_config_package: '' };
  const child = spawn('npx', argv, { cwd: folder, env, stdio: 'ignore', detached: true });
  const ended = once(child, 'exit');
  const isSent = await Promise.race([once(server, 'request').then(() => true), ended.then(() => false)]);
  const seconds = (performance.now() - begin) / 1000;
  if (!isSent) throw new Error('`npx ib-conformance verify` sent no request');
  process.kill(-child.pid!, 'SIGKILL');
  await ended;
  server.closeAllConnections();
  server.close();
  return { seconds };
}

/** Verifies a mock with these limits and one key. */
async function limitedRun(limits: FixtureLimits, isStated: boolean, delay = 0, flags = ''): Promise<Sample> {
  const apiKeys = withoutLimits.apiKeys!.filter(({ key }) => key !== 'northwind-spare-key');
  const oneKey = { ...withoutLimits, apiKeys };
  const served = fixtureFile('served', { ...oneKey, limits });
  const known = isStated ? served : fixtureFile('known', oneKey);
  const record = join(folder, 'run.json');
  const server = thisPackage(command, '--fixture', served, '--delay', String(delay));
  await using running = await start(server);
  const verify = `verify ${running.origin} --fixture ${known} --seed 1${flags}`;
  const seconds = await timed(`${verify} --report json=${record}`);
  const { requests, strength = 0, requirements } = readJson<RunRecord>(record);
  const open = requirements.filter(({ outcome }) => outcome === 'inconclusive').length;
  return { seconds, requests, strength, 'requirements not judged': open };
}

const START_IN_PROCESS = `import { startMock } from 'ib-conformance/mock';
const begin = performance.now();
const mock = await startMock({ port: 0 });
process.stdout.write(String((performance.now() - begin) / 1000));
await mock.close();`;

let builtFirst: Promise<string> | undefined;
const firstRelease = () => (builtFirst ??= buildFirstRelease(folder));

/** Returns rows of processor time, by command line. */
const processorRows = (lines: Readonly<Record<string, () => Promise<string> | string>>): Rows =>
  rowsBy(
    Object.entries(lines),
    ([name]) => name,
    async ([, line]) => ({ 'processor, s': await processorOf(await line(), folder) }),
  );

/** Returns the command line of a long run. */
const longRun = (program: string, origin: string) => `${program} ${verifyCommand({ origin })} ${SUITES}`;

/** Suites without waits. */
const SUITES = '--suite valid --suite invalid-uuid --suite foreign-ib --suite auth';

/** Warm-up, because code is compiled at first. */
const WARM_UP = { duration: 3 };
const SOAK_REQUESTS = 1_000_000;
/** Maximum growth by uncollected garbage. More is a leak. */
const MAX_GROWTH_MB = 50;

const rowsBy = <Item>(
  items: readonly Item[],
  name: (item: Item) => string,
  measure: (item: Item) => Promise<Sample>,
) =>
  Object.fromEntries(items.map((item): [string, () => Promise<Sample>] => [name(item), () => measure(item)]));
const thousands = (size: number) => size.toLocaleString('en');

const parts: Readonly<Record<string, Rows>> = {
  mock: rowsBy(
    servers,
    ({ name }) => name,
    async (server) => {
      await using running = await start(server);
      await load(running, WARM_UP);
      return { ...(await load(running, { duration: 3 })), ...running.usage() };
    },
  ),
  start: {
    ...rowsBy(
      [barePolka, ...servers],
      ({ name }) => `${name}, to the first 200`,
      async (server) => {
        await using running = await start(server);
        return { seconds: running.seconds };
      },
    ),
    '`startMock()` in a running process': async () => {
      const argv = ['--input-type=module', '--eval', START_IN_PROCESS];
      return { seconds: Number((await run(process.execPath, argv, { cwd: folder })).stdout) };
    },
    '`--help`': async () => ({ seconds: await timed('--help') }),
    '`npx ib-conformance verify`, to its first request': timeToFirstRequest,
    '`verify` of a URL, 1,000 requests': async () => {
      await using running = await start(thisPackage(command, '--limits', 'off'));
      return { seconds: await timed(`${verifyCommand(running)} ${SUITES} --max-requests 1000`) };
    },
    '`verify` of the built-in mock': async () => ({ seconds: await timed('verify --seed 1') }),
  },
  harness: rowsBy(
    [300, 1_500, 10_000],
    (cases) => `${thousands(cases)} cases`,
    async (cases) => {
      const [record, peak] = [join(folder, 'run.json'), join(folder, 'peak')];
      await using running = await start(thisPackage(command, '--limits', 'off'));
      const bare = await load(running, WARM_UP);
      const flags = `--cases ${cases} ${SUITES} --report json=${record}`;
      const watch = new URL('../../testing/peak-memory.mjs', import.meta.url).href;
      const env = { NODE_OPTIONS: `--import ${watch}`, PEAK_FILE: peak };
      const seconds = await timed(`${verifyCommand(running)} ${flags}`, env);
      const { requests } = readJson<RunRecord>(record);
      const share = requests / seconds / bare['requests a second'];
      const memory = Number(readFileSync(peak, 'utf8')) / 2 ** 20;
      return { seconds, requests, 'share of autocannon': share, 'peak memory, MB': memory };
    },
  ),
  processor: processorRows({
    '`verify` of 0.1.0': async () => `${await firstRelease()} verify --seed 1`,
    '`verify mock`': () => `${command} verify mock --seed 1`,
    '`verify mock --max-requests 50`': () => `${command} verify mock --seed 1 --max-requests 50`,
  }),
  request: Object.fromEntries(
    (
      [
        ['a loop that only sends', ({ origin }) => bareCost(`${origin}/api/ib/user-status`, folder)],
        ['0.1.0', async ({ origin }) => marginalCost(longRun(await firstRelease(), origin), folder)],
        ['this version', ({ origin }) => marginalCost(longRun(command, origin), folder)],
      ] as readonly (readonly [string, (of: { readonly origin: string }) => Promise<number>])[]
    ).map(([name, measure]) => [
      name,
      async () => {
        await using running = await start(thisPackage(command, '--limits', 'off'));
        return { 'processor µs a request': await measure(running) };
      },
    ]),
  ),
  limits: {
    '12 and 40 in 2 s, stated': () => limitedRun(limitsOf(12, 40, 2), true),
    'the same, not stated': () => limitedRun(limitsOf(12, 40, 2), false),
    'the same, stated, 60 s allowed': () => limitedRun(limitsOf(12, 40, 2), true, 0, ' --max-duration 60s'),
    '60 in 3 s, 20 ms an answer, stated': () => limitedRun(limitsOf(60, 60, 3), true, 20),
    'the same, 20 ms an answer, not stated': () => limitedRun(limitsOf(60, 60, 3), false, 20),
    '100 in 15 min, stated': () => limitedRun(limitsOf(100, 100, 900), true),
    '100 in 15 min, not stated': () => limitedRun(limitsOf(100, 100, 900), false),
  },
  growth: rowsBy(
    [1_000, 100_000, 1_000_000],
    (size) => `${thousands(size)} users and deposits`,
    async (size) => {
      const file = join(folder, `fixture-${size}.json`);
      await timed(`fixture generate --users ${size} --deposits ${size} --output ${file}`);
      const { users = [], apiKeys = [] } = readJson<Fixture>(file);
      const path = `/api/ib/user-status?user_id=${users[0]!.user_id}`;
      const { key } = apiKeys.find(({ partner, state }) => partner !== null && state === 'active')!;
      const server = thisPackage(command, '--limits', 'off', '--fixture', file);
      await using running = await start(server, { path, key });
      return { 'seconds to the first 200': running.seconds, ...running.usage() };
    },
  ),
  soak: {
    'ib-conformance': async () => {
      await using running = await start(thisPackage(command, '--limits', 'off'));
      await load(running, { amount: SOAK_REQUESTS / 10 });
      const early = running.usage()['memory, MB'];
      await load(running, { amount: (SOAK_REQUESTS / 10) * 9 });
      const late = running.usage()['memory, MB'];
      if (late - early > MAX_GROWTH_MB) throw new Error(`memory grew from ${early} to ${late} MB`);
      return { requests: SOAK_REQUESTS, 'MB after a tenth': early, 'MB after all': late };
    },
  },
};

/** Measures each row once per round. Every second round is in reverse order, so that no row benefits from its place. */
async function measureTable(name: string, rounds: number): Promise<string> {
  const before = loadavg()[0]!;
  const rows = Object.entries(parts[name]!);
  const samples = new Map(rows.map(([row]) => [row, [] as Sample[]]));
  for (let round = 0; round < rounds; round += 1)
    for (const [row, measure] of round % 2 === 0 ? rows : rows.toReversed()) {
      process.stderr.write(`${name}, round ${round + 1} of ${rounds}: ${row}\n`);
      samples.get(row)!.push(await measure());
    }
  const [first] = [...samples.values()];
  const columns = Object.keys(first![0]!);
  /** Returns minimum, median and maximum. */
  const figures = (of: readonly Sample[], column: string) => {
    const sorted = of.map((sample) => sample[column]!).toSorted((a, b) => a - b);
    return [0, Math.floor(rounds / 2), -1].map((at) => sorted.at(at)!) as [number, number, number];
  };
  const cell = (of: readonly Sample[], column: string) => {
    const [least, median, most] = figures(of, column).map(digits);
    return `${median} (${least} to ${most})`;
  };
  const lines = [
    [name, ...columns, `${columns[0]}, times the first row`],
    ['', ...columns, ''].map(() => '---'),
    ...[...samples].map(([row, of]) => [
      row,
      ...columns.map((column) => cell(of, column)),
      digits(figures(of, columns[0]!)[1] / figures(first!, columns[0]!)[1]),
    ]),
  ];
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.version}`;
  return `${lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')}
Medians of ${rounds} rounds, in brackets minimum and maximum. ${machine}; ${new Date().toISOString().slice(0, 10)}, load average ${before.toFixed(1)} to ${loadavg()[0]!.toFixed(1)}.
`;
}

/** Formats with three significant digits: more would be noise. */
const digits = (figure: number) => figure.toLocaleString('en', { maximumSignificantDigits: 3 });

const { values } = parseArgs({
  options: { part: { type: 'string', multiple: true }, rounds: { type: 'string', default: '5' } },
});
try {
  for (const name of values.part ?? Object.keys(parts).filter((part) => !['limits', 'soak'].includes(part))) {
    if (!Object.hasOwn(parts, name)) throw new Error(`--part is one of ${Object.keys(parts).join(', ')}`);
    process.stdout.write(`## ${name}\n\n${await measureTable(name, Number(values.rounds))}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
