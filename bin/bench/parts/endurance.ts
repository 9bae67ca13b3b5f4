import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { count } from '../columns.ts';
import { versionsOf } from '../installations.ts';
import type { Part, Sample } from '../part.ts';
import { running } from '../running.ts';
import { ours, oursWith } from '../servers.ts';
import { load } from '../wrk.ts';

const REQUESTS = 1_000_000;
/** So many different ids are asked for: what kept something for each would show. */
const IDS = 200_000;

/** Whether the memory of the mock stays where it is. */
export const endurance: Part = {
  title: 'A million requests',
  rows: 'server',
  byDefault: false,
  prepare: async (bench) => {
    const file = join(bench.folder, 'unknown-ids.txt');
    const lookup = () => `/api/ib/user-status?user_id=${randomUUID()}`;
    writeFileSync(file, Array.from({ length: IDS }, lookup).join('\n'));
    const measure = async (): Promise<Sample> => {
      await using up = await running(bench, oursWith('--limits', 'off'));
      const restMb = await up.restMb();
      let { requests } = await load(bench, up, 1, file);
      const earlyMb = up.residentMb();
      while (requests < REQUESTS) requests += (await load(bench, up, bench.seconds, file)).requests;
      return { restMb, earlyMb, requests, lateMb: up.residentMb() };
    };
    return { versions: await versionsOf(bench.installations, [ours]), entrants: { [ours.name]: measure } };
  },
  columns: [
    count('memory at rest, MB', 'restMb'),
    count('after a second, MB', 'earlyMb'),
    count('requests in all', 'requests'),
    count('memory after them, MB', 'lateMb'),
  ],
};
