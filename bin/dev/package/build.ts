/**
 * Builds the bundles, the declarations and the lists of third-party code of the package: before each `npm pack` (`prepack`),
 * and with `--if-missing` when npm installs the package from git (`prepare`).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Metafile } from 'esbuild';
import { distFolder, readJson, root } from '../paths.ts';
import { api, bundle, bundlePage } from './bundle.ts';

/** Imports of other declarations. In the package they have to name the code: `.js` or `.cjs`. */
const localImport = /((?:from\s*|import\()['"])(\.[^'"]+)\.ts(?=['"])/g;

function writeDeclarations(): void {
  const all = join(distFolder, 'all-types');
  const project = join(import.meta.dirname, 'tsconfig.json');
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['--project', project, '--outDir', all], {
    stdio: 'inherit',
  });
  const { files } = readJson<{ readonly files: readonly string[] }>(project);
  const entries = files.map((file) => relative(root, join(dirname(project), file)));
  const declarations = new Set(entries.map((file) => join(all, file.replace(/\.ts$/, '.d.ts'))));
  // The set grows during the loop: each declaration adds its imports.
  for (const file of declarations) {
    const text = readFileSync(file, 'utf8');
    for (const [, , name] of text.matchAll(localImport))
      declarations.add(join(dirname(file), `${name}.d.ts`));
    const target = join(distFolder, 'types', relative(all, file));
    mkdirSync(dirname(target), { recursive: true });
    for (const kind of ['ts', 'cts'])
      writeFileSync(
        target.replace(/ts$/, kind),
        text.replaceAll(localImport, `$1$2.${kind.replace('ts', 'js')}`),
      );
  }
  rmSync(all, { recursive: true });
}

/** Third-party code inside a package whose licence does not name it. All of it has the MIT licence. */
const embedded: readonly (readonly [place: string, name: string, copyright: string])[] = [
  ['undici/lib/llhttp/', 'llhttp', 'Copyright Fedor Indutny, 2018.'],
  ['undici/lib/core/util.js', 'fetch-blob', 'Copyright (c) 2019 David Frank'],
  ['undici/lib/web/fetch/', 'undici-fetch', 'Copyright (c) 2020 Ethan Arrowood'],
  ['undici/lib/web/fetch/body.js', 'formdata-polyfill', 'Copyright (c) 2016 Jimmy Karl Roland Wärting'],
];

/** Packages whose code repeats the notice of their licence file. */
const repeatsLicence = /\/(?:jsonc-parser|yargs-parser)\//;

/**
 * Writes the licences of the third-party code in the bundles and in the admin page, and a list of it (CycloneDX).
 *
 * @throws Error for a package without a licence, or a file with an unlisted copyright notice
 */
function writeContents(metafiles: readonly Metafile[]): void {
  const outputs = metafiles.flatMap((one) => Object.values(one.outputs));
  const inputs = outputs.flatMap((one) => Object.keys(one.inputs));
  const files = inputs.filter((file) => file.includes('node_modules/'));
  const isCarried = (file: string) => embedded.some(([place]) => file.includes(place));
  for (const file of files.filter((one) => !repeatsLicence.test(one) && !isCarried(one)))
    if (/copyright|MIT licen[cs]e/i.test(readFileSync(join(root, file), 'utf8')))
      throw new Error(`${file} has a licence notice that is not listed in build.ts`);
  const folders = new Set(files.map((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)![0]));
  const paths = [...folders].toSorted().map((folder) => join(root, folder));
  // Several packages may have the same one in a folder of their own.
  const packages = [...new Map(paths.map((path) => [componentOf(path).purl, path])).values()];
  const carried = embedded.filter(([place]) => files.some((file) => file.includes(place)));
  const licences = [
    'The files in this folder contain code of these packages, each under its own licence.',
    ...packages.map(noticeOf),
    ...carried.map(([, name, copyright]) => `${name} (MIT)\n\n${mitLicence(copyright)}`),
  ].join(`\n\n${'-'.repeat(80)}\n\n`);
  writeFileSync(join(distFolder, 'THIRD-PARTY-LICENSES.txt'), `${licences}\n`);
  const list = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', ...componentOf(root) } },
    components: [
      ...packages.map((folder) => ({ type: 'library', ...componentOf(folder) })),
      ...carried.map(([, name]) => ({ type: 'library', name, licenses: [{ expression: 'MIT' }] })),
    ],
  };
  writeFileSync(join(distFolder, 'bom.cdx.json'), `${JSON.stringify(list, undefined, 2)}\n`);
}

function componentOf(folder: string) {
  const { name, version, license } = readJson<Manifest>(join(folder, 'package.json'));
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { name, version, licenses: [{ expression: license }], purl };
}

const mitLicence = (copyright: string) =>
  readFileSync(join(root, 'LICENSE'), 'utf8')
    .replace(/^Copyright .*$/m, copyright)
    .trim();

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly author?: string | { readonly name: string };
}

function noticeOf(path: string): string {
  const manifest = readJson<Manifest>(join(path, 'package.json'));
  const { name, version, license } = manifest;
  const file = readdirSync(path).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? mitLicenceOf(manifest) : readFileSync(join(path, file), 'utf8').trim();
  return `${name} ${version} (${license})\n\n${text}`;
}

/** Returns the licence of a package that declares MIT and an author, but has no licence file. */
function mitLicenceOf({ name, license, author }: Manifest): string {
  const holder = typeof author === 'string' ? author : author?.name;
  if (license !== 'MIT' || holder === undefined) throw new Error(`${name}: the package has no licence`);
  return mitLicence(`Copyright (c) ${holder}`);
}

if (!process.argv.includes('--if-missing') || !existsSync(distFolder)) {
  rmSync(distFolder, { recursive: true, force: true });
  const metafiles = [await bundle('esm'), await bundle('cjs'), await bundle('undici')];
  for (const name of Object.keys(api))
    writeFileSync(join(distFolder, `${name}.cjs`), `module.exports = require('./all.cjs')['${name}']();\n`);
  writeContents([...metafiles, (await bundlePage()).metafile]);
  writeDeclarations();
}
