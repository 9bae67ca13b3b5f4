import { count, spread, times } from '../columns.ts';
import { commandIn, sizeOf, versionsOf } from '../installations.ts';
import type { Bench, Measure, Part } from '../part.ts';
import { running } from '../running.ts';
import { bareHttp, barePolka, ours, servers, type Server } from '../servers.ts';
import { timed } from '../timed.ts';
import { unhinderedRun, unlimitedMock } from '../unhindered.ts';

const toFirst200 = ({ name }: Server) => `${name}, to the first 200`;

/** How long it takes until a server answers, and until a command has ended, from the start of the process. */
export const start: Part = {
  title: 'Starts',
  rows: 'what',
  byDefault: true,
  prepare: async (bench) => {
    const versions = await versionsOf(bench.installations, servers);
    const entrants = { ...(await coldStarts(bench)), ...(await commands(bench)) };
    // Once for the file system's cache, uncounted.
    for (const measure of Object.values(entrants)) await measure(0);
    return { versions, entrants };
  },
  columns: [
    spread('ms', 'ms'),
    times('times bare node:http', 'ms', toFirst200(bareHttp)),
    times('times bare polka', 'ms', toFirst200(barePolka)),
    spread('installed, MB', 'installedMb'),
    count('packages', 'packages'),
  ],
};

/** Of each server, to its first 200. */
async function coldStarts(bench: Bench): Promise<Record<string, Measure>> {
  const entrants: Record<string, Measure> = {};
  for (const server of servers) {
    const size = sizeOf(await bench.installations.folderOf(server), server);
    entrants[toFirst200(server)] = async () => {
      await using up = await running(bench, server);
      return { ms: up.startSeconds * 1000, ...size };
    };
  }
  return entrants;
}

/** Of the commands, to their exit. */
async function commands(bench: Bench): Promise<Record<string, Measure>> {
  const folder = await bench.installations.folderOf(ours);
  const ends = async (...argv: readonly string[]) => {
    const { seconds, processorSeconds, peakMb } = await timed(bench, commandIn(folder, ours), argv);
    return { ms: seconds * 1000, processorSeconds, peakMb };
  };
  return {
    '`--help`': () => ends('--help'),
    '`verify`, 1,000 requests to a mock apart': async () => {
      await using up = await running(bench, unlimitedMock);
      return await ends('verify', up.origin, '--cases', '10', ...unhinderedRun(bench));
    },
    '`verify` of the built-in mock': () => ends('verify', '--seed', '1'),
    '`verify --no-canary` of the built-in mock': () => ends('verify', '--seed', '1', '--no-canary'),
  };
}
