/** Builds what the package contains beside its schemas (`prepack`): the bundle, its declarations, third-party licences. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Metafile } from 'esbuild';
import { output, root } from '../paths.ts';
import { bundle } from './bundle.ts';

/** An import of another declaration; in the package it has to name the file with the code: `.js`. */
const localImport = /((?:from\s*|import\()['"])(\.[^'"]+)\.ts(?=['"])/g;

rmSync(output, { recursive: true, force: true });
const metafile = await bundle();
writeFileSync(join(output, 'THIRD-PARTY-LICENSES.txt'), `${notices(metafile)}\n`);
writeDeclarations();

function writeDeclarations(): void {
  const all = join(output, 'all-types');
  const project = join(import.meta.dirname, 'tsconfig.json');
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['--project', project, '--outDir', all], {
    stdio: 'inherit',
  });
  const { files } = JSON.parse(readFileSync(project, 'utf8')) as { readonly files: readonly string[] };
  const entries = files.map((file) => relative(root, join(dirname(project), file)));
  const declarations = new Set(entries.map((file) => join(all, file.replace(/\.ts$/, '.d.ts'))));
  // A set that grows while it is iterated: each declaration adds those that it imports.
  for (const file of declarations) {
    const text = readFileSync(file, 'utf8');
    for (const [, , name] of text.matchAll(localImport))
      declarations.add(join(dirname(file), `${name}.d.ts`));
    const target = join(output, 'types', relative(all, file));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text.replaceAll(localImport, '$1$2.js'));
  }
  rmSync(all, { recursive: true });
}

/**
 * The licences of the packages whose code a bundle holds, as their authors ask.
 *
 * @throws Error for a package without a licence
 */
function notices({ outputs }: Metafile): string {
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
