import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { root } from '../dev/paths.ts';

/**
 * The licences of the packages whose code a bundle holds, as their authors ask.
 *
 * @throws Error for a package without a licence
 */
export function notices({ outputs }: Metafile): string {
  const inputs = Object.values(outputs).flatMap((made) => Object.keys(made.inputs));
  const packages = new Set(
    inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
  );
  return [
    'The files in this folder hold code of these packages, each under its own licence.',
    ...[...packages].toSorted().map(noticeOf),
  ].join(`\n\n${'-'.repeat(80)}\n\n`);
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly author?: string | { readonly name: string };
}

function noticeOf(folder: string): string {
  const path = join(root, folder);
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest;
  const { name, version, license } = manifest;
  const file = readdirSync(path).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? namedLicence(manifest) : readFileSync(join(path, file), 'utf8').trim();
  return `${name} ${version} (${license})\n\n${text}`;
}

/** Some packages name the MIT licence and its holder, and leave its text out. */
function namedLicence({ name, license, author }: Manifest): string {
  const holder = typeof author === 'string' ? author : author?.name;
  if (license !== 'MIT' || holder === undefined) throw new Error(`${name}: has no licence to pass on`);
  const mit = readFileSync(join(root, 'LICENSE'), 'utf8');
  return mit.replace(/^Copyright .*$/m, `Copyright (c) ${holder}`).trim();
}
