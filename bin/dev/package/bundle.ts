import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type BuildOptions, type Metafile } from 'esbuild';
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

/** Options by module format. Commands are imported dynamically, so each has its own chunk. */
const formats = {
  esm: {
    entryPoints: { ...api, main: 'bin/main.ts', 'self-test-worker': 'bin/self-test.ts' },
    outExtension: { '.js': '.mjs' },
    splitting: true,
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
  for (const [place, file] of Object.entries(assets)) cpSync(join(root, file), join(folder, place));
  assertFilesExist(Object.keys(metafile.outputs).map((chunk) => join(root, chunk)));
  return metafile;
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
    for (const [, url] of readFileSync(chunk, 'utf8').matchAll(reads))
      if (!existsSync(new URL(url!, `file://${chunk}`)))
        throw new Error(`${chunk} reads ${url}, which the package lacks: see assets in bundle.ts`);
}
