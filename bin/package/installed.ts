import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../dev/paths.ts';

/** The package as a user has it: packed, and installed into an empty folder without a registry. */
export interface Installed {
  readonly tarball: string;
  /** The user's folder. */
  readonly folder: string;
  /** The command that npm put there. */
  readonly command: string;
}

const run = promisify(execFile);

/** Packs this checkout, the build included, and installs what came of it. */
export async function install(): Promise<Installed> {
  const folder = await mkdtemp(join(tmpdir(), 'ib-conformance-package-'));
  const { stdout } = await run('npm', ['pack', '--json', '--silent', '--pack-destination', folder], {
    cwd: root,
  });
  const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
  const tarball = join(folder, filename);
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', tarball], {
    cwd: folder,
  });
  return { tarball, folder, command: join(folder, 'node_modules/.bin/ib-conformance') };
}
