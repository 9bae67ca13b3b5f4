import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import builtIn from '../../../schemas/built-in.fixture.json' with { type: 'json' };
import openapi from '../../../schemas/openapi.json' with { type: 'json' };
import type { Fixture, RunRecord } from '../../../schemas/generated/types.ts';
import { bareHttp, load, others, ours, start, type Expected, type Server } from './servers.ts';
import { ratio, spread, type Column, type Sample } from './table.ts';

/** What a part may use. */
export interface Bench {
  /** Where this package is installed. */
  readonly folder: string;
  readonly command: string;
  /** Seconds that a load takes. */
  readonly seconds: number;
}

/** A part of the benchmark: a table, and what measures each of its rows once. The first row is the yardstick. */
export interface Part {
  readonly heading: string;
  readonly columns: readonly Column[];
  readonly rows: (bench: Bench) => Readonly<Record<string, () => Promise<Sample>>>;
  /** Only if it is named. */
  readonly onDemand?: true;
}

const run = promisify(execFile);

/** The ms that a command takes, from the start of its process to its exit. */
async function timed(folder: string, command: string, ...argv: readonly string[]): Promise<number> {
  const begin = performance.now();
  await run(command, [...argv], { cwd: folder, env: { ...process.env, CI: '' } });
  return performance.now() - begin;
}

const byName = (servers: readonly Server[], measure: (server: Server) => Promise<Sample>) =>
  Object.fromEntries(servers.map((server) => [server.name, () => measure(server)]));

/** Until then a server is still being compiled. */
const WARM_UP = { duration: 3 };

const mock: Part = {
  heading: 'server',
  columns: [
    spread('requests a second', 'requestsPerSecond'),
    ratio('share of bare', 'requestsPerSecond'),
    spread('processor µs a request', 'cpuMicroseconds'),
    ratio('times bare', 'cpuMicroseconds'),
    spread('p99, ms', 'p99Ms'),
    spread('memory, MB', 'memoryMb'),
  ],
  rows: ({ folder, command, seconds }) =>
    byName([bareHttp, ours(command), ...others], async (server) => {
      await using running = await start(server, folder);
      await load(running, WARM_UP);
      return { ...(await load(running, { duration: seconds })), ...running.usage() };
    }),
};

const START_IN_PROCESS = `import { startMock } from 'ib-conformance/mock';
const begin = performance.now();
const mock = await startMock({ port: 0 });
process.stdout.write(String(performance.now() - begin));
await mock.close();`;

const coldStart: Part = {
  heading: 'what',
  columns: [spread('ms', 'ms'), ratio('times bare node:http', 'ms')],
  rows: ({ folder, command }) => ({
    ...Object.fromEntries(
      [bareHttp, ours(command), ...others].map((server) => [
        `${server.name}, to the first 200`,
        async () => {
          await using running = await start(server, folder);
          return { ms: running.startMs };
        },
      ]),
    ),
    '`startMock()` in a running process': async () => {
      const argv = ['--input-type=module', '--eval', START_IN_PROCESS];
      return { ms: Number((await run(process.execPath, argv, { cwd: folder })).stdout) };
    },
    '`--help`': async () => ({ ms: await timed(folder, command, '--help') }),
    '`verify` of the built-in mock': async () => ({
      ms: await timed(folder, command, 'verify', '--seed', '1'),
    }),
  }),
};

/** Suites that wait for nothing. */
const SUITES = ['valid', 'invalid-uuid', 'foreign-ib', 'auth'].flatMap((name) => ['--suite', name]);

const harness: Part = {
  heading: 'cases',
  columns: [
    spread('requests', 'requests'),
    spread('seconds', 'seconds'),
    spread('requests a second', 'requestsPerSecond'),
    spread('share of autocannon', 'shareOfLoad'),
  ],
  rows: ({ folder, command }) =>
    Object.fromEntries(
      [10, 100, 1_000, 10_000].map((cases) => [
        cases.toLocaleString('en'),
        async () => {
          const { limits: _, ...fixture } = builtIn;
          const files = { fixture: join(folder, 'no-limits.json'), record: join(folder, 'run.json') };
          writeFileSync(files.fixture, JSON.stringify(fixture));
          await using running = await start(ours(command, '--limits', 'off'), folder);
          const bare = await load(running, WARM_UP);
          const argv = ['verify', running.origin, '--cases', String(cases), '--fixture', files.fixture];
          const more = ['--seed', '1', '--no-canary', ...SUITES, '--report', `json=${files.record}`];
          const ms = await timed(folder, command, ...argv, ...more);
          const { requests } = JSON.parse(readFileSync(files.record, 'utf8')) as RunRecord;
          const requestsPerSecond = requests / (ms / 1000);
          const shareOfLoad = requestsPerSecond / bare.requestsPerSecond;
          return { requests, seconds: ms / 1000, requestsPerSecond, shareOfLoad };
        },
      ]),
    ),
};

const growth: Part = {
  heading: 'users, and as many deposits',
  columns: [spread('seconds to the first 200', 'seconds'), spread('memory, MB', 'memoryMb')],
  rows: ({ folder, command }) =>
    Object.fromEntries(
      [1_000, 100_000, 1_000_000].map((size) => [
        size.toLocaleString('en'),
        async () => {
          const file = join(folder, `fixture-${size}.json`);
          const amount = ['--users', String(size), '--deposits', String(size)];
          await timed(folder, command, 'fixture', 'generate', ...amount, '--output', file);
          const { users = [], apiKeys = [] } = JSON.parse(readFileSync(file, 'utf8')) as Fixture;
          const path = `/api/ib/user-status?user_id=${users[0]!.user_id}`;
          const { key } = apiKeys.find(({ partner, state }) => partner !== null && state === 'active')!;
          await using running = await start(ours(command, '--limits', 'off', '--fixture', file), folder, {
            path,
            key,
          });
          return { seconds: running.startMs / 1000, ...running.usage() };
        },
      ]),
    ),
};

/** The lookups of the OpenAPI document with the answers that it gives for them, but for those that change in time. */
function documentedLookups(): readonly Expected[] {
  type Examples = Readonly<Record<string, { readonly description: string; readonly value: object }>>;
  const answers = Object.values(openapi.paths).flatMap(({ get }) =>
    Object.entries(get.responses).flatMap(([status, { content }]) => {
      const { examples = {} }: { readonly examples?: Examples } = { ...content['application/json'] };
      return Object.entries(examples).map(([name, one]) => ({ status, name, ...one }));
    }),
  );
  return answers
    .filter(({ status, name }) => status !== '429' && !name.startsWith('then-'))
    .map(({ status, description, value }) => {
      const [, path = '', key = ''] = /^To `(.+)` with `Authorization: Bearer (.+)`/.exec(description)!;
      return { path, key, status: Number(status), body: JSON.stringify(value) };
    });
}

const SOAK_REQUESTS = 1_000_000;
/** Growth that is no leak: garbage that is collected sooner or later. */
const MAX_GROWTH_MB = 50;

const soak: Part = {
  heading: 'server',
  onDemand: true,
  columns: [
    spread('requests, all answered as documented', 'requests'),
    spread('memory after a tenth, MB', 'earlyMb'),
    spread('memory after all, MB', 'lateMb'),
  ],
  rows: ({ folder, command }) =>
    byName([ours(command, '--limits', 'off', '--clock', 'frozen')], async (server) => {
      await using running = await start(server, folder);
      const lookups = documentedLookups();
      await load(running, { amount: SOAK_REQUESTS / 10 }, lookups);
      const earlyMb = running.usage().memoryMb;
      await load(running, { amount: (SOAK_REQUESTS / 10) * 9 }, lookups);
      const lateMb = running.usage().memoryMb;
      if (lateMb - earlyMb > MAX_GROWTH_MB) throw new Error(`memory grew from ${earlyMb} to ${lateMb} MB`);
      return { requests: SOAK_REQUESTS, earlyMb, lateMb };
    }),
};

/** The parts by the names that `--part` takes. */
export const parts: Readonly<Record<string, Part>> = { mock, start: coldStart, harness, growth, soak };

/** The pages that show tables, and of which parts. */
export const pages: Readonly<Record<string, readonly string[]>> = {
  'README.md': ['mock'],
  'docs/speed.md': Object.keys(parts),
};
