import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../../dev/paths.ts';
import { count, spread } from '../columns.ts';
import { commandIn, versionOf, versionsOf } from '../installations.ts';
import type { Bench, Measure, Part, Sample } from '../part.ts';
import { recorded } from '../recorded.ts';
import { running } from '../running.ts';
import { ours } from '../servers.ts';
import { timed } from '../timed.ts';
import { unhinderedRun, unlimitedMock } from '../unhindered.ts';
import { load } from '../wrk.ts';

/** Of the loop, which is no faster with more. */
const CONNECTIONS = 16;

const bareLoop = fileURLToPath(new URL('../bare-loop.mjs', import.meta.url));

/** How fast `verify` is beside a loop that sends the same requests and looks at nothing, each a process from start to exit. */
export const harness: Part = {
  title: 'Runs of `verify`, beside a bare loop of undici',
  rows: 'cases',
  byDefault: true,
  prepare: async (bench) => ({
    versions: {
      ...(await versionsOf(bench.installations, [ours])),
      undici: versionOf(root, 'undici'),
    },
    entrants: await entrants(bench, [10, 100, 1_000, 10_000]),
  }),
  columns: [
    count('requests', 'requests'),
    spread('seconds', 'seconds'),
    spread('requests a second', 'requestsPerSecond'),
    spread('share of a bare loop', 'shareOfBare'),
    spread('µs a request', 'microsecondsEach'),
    count('peak memory, MB', 'peakMb'),
  ],
};

async function entrants(bench: Bench, sizes: readonly number[]): Promise<Record<string, Measure>> {
  const command = commandIn(await bench.installations.folderOf(ours), ours);
  const made: Record<string, Measure> = {};
  for (const cases of sizes) {
    const verify = (origin: string) =>
      timed(bench, command, ['verify', origin, '--cases', String(cases), ...unhinderedRun(bench)]);
    const file = join(bench.folder, `requests-${cases}.json`);
    const requests = await record(bench, verify, file);
    const bare = (origin: string) =>
      timed(bench, process.execPath, [bareLoop, origin, file, String(CONNECTIONS)]);
    made[cases.toLocaleString('en')] = (round) => measure(bench, requests, verify, bare, round);
  }
  return made;
}

/** Keeps in a file what a run sends; says how many requests that is. */
async function record(bench: Bench, run: (origin: string) => Promise<unknown>, file: string) {
  await using up = await running(bench, unlimitedMock);
  const sent = await recorded(up.origin, run);
  writeFileSync(file, JSON.stringify(sent));
  return sent.requests.length;
}

type Run = (origin: string) => ReturnType<typeof timed>;

/** Both of them against a server of their own round that is warm; who goes first takes turns. */
async function measure(
  bench: Bench,
  requests: number,
  verify: Run,
  bare: Run,
  round: number,
): Promise<Sample> {
  await using up = await running(bench, unlimitedMock);
  await load(bench, up, 1);
  const first = round % 2 === 0 ? undefined : await bare(up.origin);
  const { seconds, processorSeconds, peakMb } = await verify(up.origin);
  const yardstick = first ?? (await bare(up.origin));
  return {
    requests,
    seconds,
    processorSeconds,
    peakMb,
    requestsPerSecond: requests / seconds,
    microsecondsEach: (seconds / requests) * 1e6,
    bareSeconds: yardstick.seconds,
    bareProcessorSeconds: yardstick.processorSeconds,
    shareOfBare: yardstick.seconds / seconds,
  };
}
