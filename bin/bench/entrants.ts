import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { cpus, platform, release, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { install as installOurs } from '../package/installed.ts';
import type { Rival } from './rivals.ts';

/** Installs a server into a folder of its own. */
export async function folderOf({ install, files }: Rival): Promise<string> {
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

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The version that was installed. */
export const versionOf = (folder: string, name: string) =>
  (
    JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')) as {
      readonly version: string;
    }
  ).version;

/** The command of npm's shims is `node`: the one that runs this. */
export function useThisNode(): void {
  process.env['PATH'] = [join(process.execPath, '..'), process.env['PATH']].join(delimiter);
}

/** What runs a server, and where. */
export function commandOf({ command }: Rival, folder: string): string {
  return command === 'node' ? process.execPath : join(folder, 'node_modules/.bin', command);
}

/** What the figures were taken on. */
export const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${platform()} ${release()}`;
