import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../paths.ts';

const run = promisify(execFile);

/**
 * Packs this checkout like `npm publish` and installs the tarball into an empty folder, without a registry.
 * Installs the tarball `PACKAGE_TARBALL` if it is set: `.ci/run` packs once for all its checks.
 */
export async function install() {
  const folder = await mkdtemp(join(tmpdir(), 'ib-conformance-package-'));
  const tarball = process.env['PACKAGE_TARBALL'] ?? (await pack(folder));
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', tarball], { cwd: folder });
  return { folder, tarball, command: join(folder, 'node_modules/.bin/ib-conformance') };
}

async function pack(folder: string): Promise<string> {
  const argv = ['pack', '--json', '--silent', '--pack-destination', folder];
  const { stdout } = await run('npm', argv, { cwd: root });
  const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
  return join(folder, filename);
}
