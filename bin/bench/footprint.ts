/**
 * What the mock weighs beside others (`npm run bench:footprint`, with `-- --rounds 30 --json file --markdown file`):
 * each installed apart into a folder of its own, started in turn on the same machine.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { cpus, loadavg, platform, release, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseArgs } from 'node:util';
import { install as installOurs } from '../package/installed.ts';
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

async function folderOf({ install, files }: Rival): Promise<string> {
  const folder =
    install === undefined
      ? (await installOurs()).folder
      : mkdtempSync(join(tmpdir(), 'ib-conformance-bench-'));
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  if (install !== undefined) {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', install], { cwd: folder });
  }
  return folder;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function start({ command, argv, request }: Rival, folder: string): Promise<Start> {
  const port = await freePort();
  const path = command === 'node' ? process.execPath : join(folder, 'node_modules/.bin', command);
  return startOnce({ command: path, argv: argv(port), folder, port, request });
}

const versionOf = (folder: string, name: string) =>
  (
    JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')) as {
      readonly version: string;
    }
  ).version;

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

// The command of npm's shims is `node`: the one that runs this.
process.env['PATH'] = [join(process.execPath, '..'), process.env['PATH']].join(delimiter);
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
    machine: `${cpus().length} × ${cpus()[0]?.model.trim()}, ${platform()} ${release()}`,
    node: process.version,
    rounds,
    load: [before, loadavg()[0]!],
    rows: entrants.map(({ rival, folder, starts }) => ({
      name: rival.name,
      version: versionOf(folder, rival.packageName),
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
