/**
 * What the mock weighs beside others (`npm run bench:footprint`, with `-- --rounds 30 --json file --markdown file`):
 * each installed apart into a folder of its own, started in turn on the same machine.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandOf, folderOf, freePort, machine, useThisNode, versionOf } from './entrants.ts';
import { footprintTable, type Footprints } from './footprint-table.ts';
import { rivals, type Rival } from './rivals.ts';
import { spreadOf } from './spread.ts';
import { startOnce, type Start } from './start.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    json: { type: 'string' },
    markdown: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds needs a whole number from 1');

const say = (text: string) => process.stderr.write(`${text}\n`);

async function start(rival: Rival, folder: string): Promise<Start> {
  const { argv, request } = rival;
  const port = await freePort();
  return startOnce({ command: commandOf(rival, folder), argv: argv(port), folder, port, request });
}

function installed(folder: string) {
  const [kilobytes = ''] = execFileSync('du', ['-sk', 'node_modules'], {
    cwd: folder,
    encoding: 'utf8',
  }).split('\t');
  const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8')) as {
    readonly packages: object;
  };
  return { installedMb: Number(kilobytes) / 1024, packages: Object.keys(packages).length };
}

useThisNode();
const entrants: { readonly rival: Rival; readonly folder: string; readonly starts: Start[] }[] = [];
try {
  for (const rival of rivals) {
    say(`installing ${rival.name}`);
    const folder = await folderOf(rival);
    entrants.push({ rival, folder, starts: [] });
    // Once for the file system's cache, uncounted.
    await start(rival, folder);
  }
  const bare = entrants.at(-1)!;
  const before = loadavg()[0]!;
  for (let round = 1; round <= rounds; round += 1) {
    say(`round ${round} of ${rounds}`);
    for (const { rival, folder, starts } of entrants) starts.push(await start(rival, folder));
  }
  const result: Footprints = {
    date: new Date().toISOString(),
    machine,
    node: process.version,
    rounds,
    load: [before, loadavg()[0]!],
    rows: entrants.map(({ rival, folder, starts }) => ({
      name: rival.name,
      version: versionOf(folder, rival.packageName!),
      coldStartMs: spreadOf(starts.map(({ coldStartMs }) => coldStartMs)),
      timesBare: spreadOf(
        starts.map(({ coldStartMs }, round) => coldStartMs / bare.starts[round]!.coldStartMs),
      ).median,
      restMb: spreadOf(starts.map(({ restMb }) => restMb)),
      ...installed(folder),
    })),
  };
  const table = footprintTable(result);
  process.stdout.write(table);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, undefined, 2)}\n`);
  if (values.markdown !== undefined) writeFileSync(values.markdown, table);
} finally {
  for (const { folder } of entrants) rmSync(folder, { recursive: true, force: true });
}
