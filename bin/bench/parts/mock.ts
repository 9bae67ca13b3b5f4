import { versionsOf } from '../installations.ts';
import { count, spread, times } from '../columns.ts';
import type { Bench, Part, Sample } from '../part.ts';
import { running } from '../running.ts';
import { bareHttp, servers, type Server } from '../servers.ts';
import { load } from '../wrk.ts';

/** Until then a server is still being compiled, and what it takes is of that. */
const WARM_UP_SECONDS = 3;

/** Loads a server for some seconds; what was sent before, uncounted, warms it up. */
async function measure(bench: Bench, server: Server): Promise<Sample> {
  await using up = await running(bench, server);
  const restMb = await up.restMb();
  await load(bench, up, WARM_UP_SECONDS);
  return { restMb, ...(await load(bench, up, bench.seconds)), loadedMb: up.residentMb() };
}

/** How many requests the mock bears, beside others. */
export const mock: Part = {
  title: 'Requests that the mock bears',
  rows: 'server',
  byDefault: true,
  prepare: async (bench) => ({
    versions: await versionsOf(bench.installations, servers),
    entrants: Object.fromEntries(servers.map((server) => [server.name, () => measure(bench, server)])),
  }),
  columns: [
    spread('requests a second', 'requestsPerSecond'),
    times('share of bare', 'requestsPerSecond', bareHttp.name),
    spread('p99, ms', 'p99Ms'),
    times('times bare', 'p99Ms', bareHttp.name),
    count('memory at rest, MB', 'restMb'),
    count('after the load, MB', 'loadedMb'),
  ],
};
