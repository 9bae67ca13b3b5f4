import { spread, times } from '../columns.ts';
import { versionsOf } from '../installations.ts';
import type { Part } from '../part.ts';
import { ours } from '../servers.ts';
import { timed } from '../timed.ts';

const bare = 'node:http';

/** What is started, by the argument that its script takes. */
const started = {
  http: bare,
  first: '`startMock()`',
  second: '`startMock()`, once more',
} as const;

/** How long it takes until a server listens in the process of a test, from the call, with everything imported. */
export const inProcess: Part = {
  title: 'Starts in process',
  rows: 'what',
  byDefault: true,
  prepare: async (bench) => {
    const folder = await bench.installations.folderOf(ours);
    const measure = (what: string) => async () => {
      const { output } = await timed(bench, process.execPath, [`${folder}/in-process.mjs`, what]);
      return { ms: Number(output) };
    };
    return {
      versions: await versionsOf(bench.installations, [ours]),
      entrants: Object.fromEntries(Object.entries(started).map(([what, name]) => [name, measure(what)])),
    };
  },
  columns: [spread('ms', 'ms'), times(`times ${bare}`, 'ms', bare)],
};
