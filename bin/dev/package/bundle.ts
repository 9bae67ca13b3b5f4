import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, resolve } from 'node:path';
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild';
import { distFolder, root } from '../paths.ts';

/** Files that the bundle reads at run time, by their path in its folder. */
const assets: Readonly<Record<string, string>> = {
  'generated/page.html': 'mock/page/generated/page.html',
};

const CREATE_REQUIRE =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";
const FILE_URL = "const __fileUrl=require('node:url').pathToFileURL(__filename).href;";

/** The entry points of the API. */
const api = { index: 'bin/api/index.ts', mock: 'mock/index.ts', 'node-test': 'bin/api/node-test.ts' };

/** What most entry points and commands load, with all that it imports. */
const common = [
  'mock/server.ts',
  'bin/commands/flags.ts',
  'bin/exit-codes.ts',
  'bin/fixture-file.ts',
  'bin/url-and-headers.ts',
  'bin/version.ts',
];

/**
 * Imports `common` in each entry point and in each module that is imported dynamically. What the same ones load becomes
 * one chunk, so that a start reads few files.
 */
const withCommon: Plugin = {
  name: 'with-common',
  setup(bundler) {
    bundler.onResolve({ filter: /\.ts$/ }, ({ path, kind, resolveDir }) =>
      kind === 'entry-point' || kind === 'dynamic-import'
        ? { path: resolve(resolveDir, path), namespace: 'with-common' }
        : undefined,
    );
    bundler.onLoad({ filter: /./, namespace: 'with-common' }, ({ path }) => {
      const imports = common.map((file) => `import ${JSON.stringify(join(root, file))};`);
      return { contents: `${imports.join('')}export * from ${JSON.stringify(path)};`, resolveDir: root };
    });
  },
};

/** Options by module format. Commands are imported dynamically, so each has its own chunk. */
const formats = {
  esm: {
    entryPoints: { ...api, main: 'bin/main.ts' },
    outExtension: { '.js': '.mjs' },
    splitting: true,
    plugins: [withCommon],
    // CommonJS packages load Node's modules with `require`.
    banner: { js: CREATE_REQUIRE },
  },
  cjs: {
    entryPoints: api,
    outExtension: { '.js': '.cjs' },
    banner: { js: FILE_URL },
    define: { 'import.meta.url': '__fileUrl' },
    // Jest has no import().
    supported: { 'dynamic-import': false },
  },
} as const satisfies Record<string, BuildOptions>;

/**
 * Bundles the command line and the entry points of the API.
 *
 * @param folder output folder with a trailing slash, next to `schemas/` and `package.json`
 */
export async function bundle(format: keyof typeof formats, folder = distFolder): Promise<Metafile> {
  const { metafile } = await build({
    ...formats[format],
    absWorkingDir: root,
    outdir: folder,
    bundle: true,
    format,
    platform: 'node',
    target: 'node20.20',
    mainFields: ['module', 'main'],
    // No minified names, so that stack traces are readable.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  const chunks = Object.keys(metafile.outputs).map((chunk) => join(root, chunk));
  if (format === 'esm') for (const chunk of chunks) requireBuiltins(chunk);
  for (const [place, file] of Object.entries(assets)) cpSync(join(root, file), join(folder, place));
  assertFilesExist(chunks);
  return metafile;
}

/** Import of one name, of several, or of a whole module. */
const IMPORT = /(?<=^|[;}\n])import(?: ([\w$]+) |(\{[^}]*\})|\*as ([\w$]+) )from"([\w:/]+)";/g;

/**
 * Loads modules of Node with `require`: an import reads all their exports, and some of these load more modules when
 * they are read. `node:http` loads undici that way, and `node:crypto` webcrypto.
 */
function requireBuiltins(chunk: string): void {
  const text = readFileSync(chunk, 'utf8');
  const changed = text.replaceAll(IMPORT, (found, one?: string, some?: string, whole?: string, from = '') => {
    const names = one ?? whole ?? some!.replaceAll(' as ', ':');
    return isBuiltin(from) && from !== 'node:module' ? `const ${names}=require("${from}");` : found;
  });
  writeFileSync(chunk, changed);
}

/** Bundles the script of the admin page. */
export const bundlePage = () =>
  build({
    absWorkingDir: root,
    entryPoints: ['mock/page/page.tsx'],
    bundle: true,
    write: false,
    metafile: true,
    format: 'iife',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    charset: 'utf8',
    legalComments: 'none',
  });

/**
 * Fails if the bundle reads a file that the package lacks. All chunks are directly in `dist/`, so a source file finds
 * `new URL('../schemas/…', import.meta.url)` only if it is directly in a folder such as `bin/`.
 */
function assertFilesExist(chunks: readonly string[]): void {
  const reads = /new URL\(\s*["'`]([^"'`]+)["'`]\s*,\s*(?:import\.meta\.url|__fileUrl)/g;
  for (const chunk of chunks)
    for (const [, url = ''] of readFileSync(chunk, 'utf8').matchAll(reads))
      if (!existsSync(new URL(url, `file://${chunk}`)))
        throw new Error(`${chunk} reads ${url}, which the package lacks: see assets in bundle.ts`);
}
