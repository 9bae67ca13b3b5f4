import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install as installOurs } from '../dev/package/install.ts';
import type { Sample } from './part.ts';
import type { Server } from './servers.ts';

/** Servers, each installed into a folder of its own when it is first asked for. */
export interface Installations extends Disposable {
  readonly folderOf: (server: Server) => Promise<string>;
}

export function installations(say: (text: string) => void): Installations {
  const folders = new Map<string, Promise<string>>();
  const made: string[] = [];
  const install = async (server: Server) => {
    say(`installing ${server.name}`);
    const folder = await installed(server);
    made.push(folder);
    return folder;
  };
  return {
    folderOf: (server) => {
      const folder = folders.get(server.name) ?? install(server);
      folders.set(server.name, folder);
      return folder;
    },
    [Symbol.dispose]: () => {
      for (const folder of made) rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function installed({ install, files }: Server): Promise<string> {
  const folder =
    install === undefined
      ? (await installOurs()).folder
      : mkdtempSync(join(tmpdir(), 'ib-conformance-bench-'));
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  if (install !== undefined && install !== '') {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', install], { cwd: folder });
  }
  return folder;
}

/** A command that was installed; `node` is the one that runs this. */
export function commandIn(folder: string, { command }: Server): string {
  return command === 'node' ? process.execPath : join(folder, 'node_modules/.bin', command);
}

/** The version of a package in a folder's `node_modules`. */
export const versionOf = (folder: string, name: string) =>
  (
    JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')) as {
      readonly version: string;
    }
  ).version;

/** Installs servers; returns the versions of their packages. */
export async function versionsOf(
  { folderOf }: Installations,
  servers: readonly Server[],
): Promise<Readonly<Record<string, string>>> {
  const versions: Record<string, string> = {};
  for (const server of servers) {
    const folder = await folderOf(server);
    const name = server.packageName;
    if (name !== undefined) versions[name] = versionOf(folder, name);
  }
  return versions;
}

/** How much npm put into a folder: `du` in MB (2^20 bytes), and packages; nothing where that is nothing. */
export function sizeOf(folder: string, { install }: Server): Sample {
  if (install === '') return {};
  const [kilobytes = ''] = execFileSync('du', ['-sk', 'node_modules'], {
    cwd: folder,
    encoding: 'utf8',
  }).split('\t');
  const { packages } = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8')) as {
    readonly packages: object;
  };
  return { installedMb: Number(kilobytes) / 1024, packages: Object.keys(packages).length };
}
