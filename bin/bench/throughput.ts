/**
 * How many requests the mock answers beside others (`npm run bench`, with
 * `-- --rounds 9 --seconds 3 --json file --markdown file`): each installed apart, loaded in turn by wrk
 * (https://github.com/wg/wrk, Debian's package `wrk`) through 32 connections.
 */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { commandOf, folderOf, freePort, machine, useThisNode, versionOf } from './entrants.ts';
import { bareHttp, rivals, type Rival } from './rivals.ts';
import { spreadOf } from './spread.ts';
import { running } from './start.ts';
import { readWrk, type Load } from './wrk.ts';
import { throughputTable, type Throughputs } from './throughput-table.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '3' },
    json: { type: 'string' },
    markdown: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds needs a whole number from 1');

const CONNECTIONS = 32;
const say = (text: string) => process.stderr.write(`${text}\n`);

interface Entrant {
  readonly rival: Rival;
  readonly folder: string;
  readonly loads: (Load & { readonly loadedMb: number })[];
}

/** Loads a server for some seconds; what was sent before, uncounted, warms it up. */
async function loaded({ rival, folder }: Entrant): Promise<Entrant['loads'][number]> {
  const port = await freePort();
  const { argv, request } = rival;
  await using server = await running({
    command: commandOf(rival, folder),
    argv: argv(port),
    folder,
    port,
    request,
  });
  const load = (seconds: string) =>
    readWrk(
      execFileSync(
        'wrk',
        [
          '--threads=1',
          `--connections=${CONNECTIONS}`,
          `--duration=${seconds}s`,
          '--latency',
          '--header=Authorization: Bearer northwind-key',
          `http://127.0.0.1:${port}${request}`,
        ],
        { encoding: 'utf8' },
      ),
    );
  load('1');
  return { ...load(values.seconds), loadedMb: server.residentMb() };
}

useThisNode();
const entrants: Entrant[] = [];
try {
  for (const rival of [bareHttp, ...rivals]) {
    say(`installing ${rival.name}`);
    entrants.push({ rival, folder: await folderOf(rival), loads: [] });
  }
  const before = loadavg()[0]!;
  for (let round = 1; round <= rounds; round += 1) {
    say(`round ${round} of ${rounds}`);
    for (const entrant of entrants) entrant.loads.push(await loaded(entrant));
  }
  const [bare] = entrants;
  const ratios = (loads: readonly Load[], of: (load: Load) => number) =>
    spreadOf(loads.map((load, round) => of(load) / of(bare!.loads[round]!))).median;
  const result: Throughputs = {
    date: new Date().toISOString(),
    machine,
    node: process.version,
    rounds,
    connections: CONNECTIONS,
    load: [before, loadavg()[0]!],
    rows: entrants.map(({ rival, folder, loads }) => ({
      name: rival.name,
      ...(rival.packageName === undefined ? {} : { version: versionOf(folder, rival.packageName) }),
      requestsPerSecond: spreadOf(loads.map(({ requestsPerSecond }) => requestsPerSecond)),
      timesBare: ratios(loads, ({ requestsPerSecond }) => requestsPerSecond),
      p99Ms: spreadOf(loads.map(({ p99Ms }) => p99Ms)),
      p99TimesBare: ratios(loads, ({ p99Ms }) => p99Ms),
      loadedMb: spreadOf(loads.map(({ loadedMb }) => loadedMb)),
    })),
  };
  const table = throughputTable(result);
  process.stdout.write(table);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, undefined, 2)}\n`);
  if (values.markdown !== undefined) writeFileSync(values.markdown, table);
} finally {
  for (const { folder } of entrants) rmSync(folder, { recursive: true, force: true });
}
