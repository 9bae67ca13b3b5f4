/** Builds what the package contains beside its schemas (`prepack`): the bundle, its declarations, third-party licences. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { output, root } from '../paths.ts';
import { bundle } from './bundle.ts';

/** An import of another declaration; in the package it has to name the file with the code: `.js` or `.cjs`. */
const localImport = /((?:from\s*|import\()['"])(\.[^'"]+)\.ts(?=['"])/g;

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
    for (const kind of ['ts', 'cts'])
      writeFileSync(
        target.replace(/ts$/, kind),
        text.replaceAll(localImport, `$1$2.${kind.replace('ts', 'js')}`),
      );
  }
  rmSync(all, { recursive: true });
}

/** Code of others in a package whose own licence does not name them; all of it is under the MIT licence. */
const carried: readonly (readonly [place: string, name: string, copyright: string])[] = [
  ['undici/lib/llhttp/', 'llhttp', 'Copyright Fedor Indutny, 2018.'],
  ['undici/lib/core/util.js', 'fetch-blob', 'Copyright (c) 2019 David Frank'],
  ['undici/lib/web/fetch/', 'undici-fetch', 'Copyright (c) 2020 Ethan Arrowood'],
  ['undici/lib/web/fetch/body.js', 'formdata-polyfill', 'Copyright (c) 2016 Jimmy Karl Roland Wärting'],
  [
    'undici/lib/web/websocket/',
    'ws',
    `Copyright (c) 2011 Einar Otto Stangvik <einaros@gmail.com>
Copyright (c) 2013 Arnout Kazemier and contributors
Copyright (c) 2016 Luigi Pinca and contributors`,
  ],
];

/** Packages that repeat the notice of their licence file in their code. */
const repeated = /\/(?:jsonc-parser|yargs-parser)\//;

/**
 * The licences of the code of others that is in the bundle and in the admin page, as its authors ask.
 *
 * @throws Error for a package without a licence, and for a file with a notice of somebody who is not listed
 */
async function notices({ outputs }: Metafile): Promise<string> {
  const page = await build({
    absWorkingDir: root,
    entryPoints: ['mock/page/page.tsx'],
    bundle: true,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    metafile: true,
    write: false,
  });
  const bundled = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const files = [...bundled, ...Object.keys(page.metafile.inputs)].filter((file) =>
    file.includes('node_modules/'),
  );
  const isCarried = (file: string) => carried.some(([place]) => file.includes(place));
  for (const file of files.filter((one) => !repeated.test(one) && !isCarried(one)))
    if (/copyright|MIT licen[cs]e/i.test(readFileSync(join(root, file), 'utf8')))
      throw new Error(`${file} names a licence: whose code is it?`);
  const packages = new Set(files.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)![0]));
  return [
    'The files in this folder hold code of these packages, each under its own licence.',
    ...[...packages].toSorted().map(noticeOf),
    ...carried.flatMap(([place, name, copyright]) =>
      files.some((file) => file.includes(place)) ? [`${name} (MIT)\n\n${mit(copyright)}`] : [],
    ),
  ].join(`\n\n${'-'.repeat(80)}\n\n`);
}

const mit = (copyright: string) =>
  readFileSync(join(root, 'LICENSE'), 'utf8')
    .replace(/^Copyright .*$/m, copyright)
    .trim();

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
  return mit(`Copyright (c) ${holder}`);
}

rmSync(output, { recursive: true, force: true });
const metafile = await bundle('esm');
await bundle('cjs');
writeFileSync(join(output, 'THIRD-PARTY-LICENSES.txt'), `${await notices(metafile)}\n`);
writeDeclarations();
