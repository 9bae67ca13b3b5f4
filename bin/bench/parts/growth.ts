import { createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { count, forEachMore, spread, times } from '../columns.ts';
import { lookupsIn } from '../fixtures.ts';
import { commandIn, versionsOf } from '../installations.ts';
import type { Bench, Measure, Part } from '../part.ts';
import { running } from '../running.ts';
import { ours, oursWith } from '../servers.ts';
import { timed } from '../timed.ts';
import { load } from '../wrk.ts';

/** How many of a partner's users are asked for, about. */
const LOOKUPS = 5_000;

const name = (size: number) => size.toLocaleString('en');
const sizes = [10, 1_000, 100_000, 1_000_000];
const smallest = name(sizes[0]!);

/** How the mock does with ever more users and deposits. */
export const growth: Part = {
  title: 'The mock with large fixtures',
  rows: 'users, and as many deposits',
  byDefault: true,
  prepare: async (bench) => {
    const versions = await versionsOf(bench.installations, [ours]);
    const entrants: Record<string, Measure> = {};
    for (const size of sizes) entrants[name(size)] = await entrant(bench, size);
    return { versions, entrants };
  },
  columns: [
    spread('seconds to the first 200', 'seconds'),
    count('memory at rest, MB', 'restMb'),
    forEachMore('bytes for each more user or deposit', 'restBytes', 'entities', smallest),
    spread('lookups a second', 'requestsPerSecond'),
    times(`times those with ${smallest}`, 'requestsPerSecond', smallest),
  ],
};

async function entrant(bench: Bench, size: number): Promise<Measure> {
  const fixture = join(bench.folder, `fixture-${size}.json`);
  const command = commandIn(await bench.installations.folderOf(ours), ours);
  const how = ['--users', String(size), '--deposits', String(size), '--output', fixture];
  await timed(bench, command, ['fixture', 'generate', ...how]);
  const lines = createInterface({ input: createReadStream(fixture), crlfDelay: Number.POSITIVE_INFINITY });
  const { key, targets } = await lookupsIn(lines, Math.ceil(size / LOOKUPS));
  const file = join(bench.folder, `targets-${size}.txt`);
  writeFileSync(file, targets.join('\n'));
  const server = {
    ...oursWith('--limits', 'off', '--fixture', fixture),
    request: targets[0]!,
    key,
  };
  return async () => {
    await using up = await running(bench, server);
    const restMb = await up.restMb();
    await load(bench, up, 1, file);
    const { requestsPerSecond } = await load(bench, up, bench.seconds, file);
    return {
      entities: 2 * size,
      seconds: up.startSeconds,
      restMb,
      restBytes: restMb * 2 ** 20,
      requestsPerSecond,
    };
  };
}
