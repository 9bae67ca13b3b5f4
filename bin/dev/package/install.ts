import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../paths.ts';

const run = promisify(execFile);

/**
 * Packs a checkout, by default this one, like `npm publish` and installs the tarball into an empty folder, without a
 * registry. Of this one, installs the tarball `PACKAGE_TARBALL` if it is set: `.ci/run` packs once for all its checks.
 */
export async function install(checkout = root) {
  const folder = await mkdtemp(join(tmpdir(), 'ib-conformance-package-'));
  const packed = checkout === root ? process.env['PACKAGE_TARBALL'] : undefined;
  const tarball = packed ?? (await pack(checkout, folder));
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', tarball], { cwd: folder });
  return { folder, tarball, command: join(folder, 'node_modules/.bin/ib-conformance') };
}

async function pack(checkout: string, folder: string): Promise<string> {
  const argv = ['pack', '--json', '--silent', '--pack-destination', folder];
  const { stdout } = await run('npm', argv, { cwd: checkout });
  const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
  return join(folder, filename);
}
