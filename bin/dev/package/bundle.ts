import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type BuildOptions, type Metafile } from 'esbuild';
import { output, root } from '../paths.ts';

/** Files that the bundle reads at run time, by their place in its folder. */
const assets: Readonly<Record<string, string>> = {
  'generated/page.html': 'mock/page/generated/page.html',
};

const CREATE_REQUIRE =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";
const FILE_URL = "const __fileUrl=require('node:url').pathToFileURL(__filename).href;";

/** The entries of the API. */
const api = { index: 'bin/api/index.ts', mock: 'mock/index.ts', 'node-test': 'bin/api/node-test.ts' };

/** How the formats differ. Commands are imported when they are called, so each is a chunk of its own. */
const formats = {
  esm: {
    entryPoints: { ...api, main: 'bin/main.ts', 'self-test-worker': 'bin/self-test.ts' },
    outExtension: { '.js': '.mjs' },
    splitting: true,
    // CommonJS packages load Node's own modules with `require`.
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
 * Bundles the command line and the entries of the API.
 *
 * @param folder to fill, with a slash at its end, beside `schemas/` and `package.json`
 */
export async function bundle(format: keyof typeof formats, folder = output): Promise<Metafile> {
  const { metafile } = await build({
    ...formats[format],
    absWorkingDir: root,
    outdir: folder,
    bundle: true,
    format,
    platform: 'node',
    target: 'node20.20',
    mainFields: ['module', 'main'],
    // Names stay readable, so that the stack of a bug is useful.
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

/**
 * Fails if the bundle reads a file that the package lacks. All chunks are directly in `dist/`, so a source finds
 * `new URL('../schemas/…', import.meta.url)` only if it is directly in a folder such as `bin/`.
 */
function assertFilesExist(chunks: readonly string[]): void {
  const reads = /new URL\(\s*["'`]([^"'`]+)["'`]\s*,\s*(?:import\.meta\.url|__fileUrl)/g;
  for (const chunk of chunks)
    for (const [, url] of readFileSync(chunk, 'utf8').matchAll(reads))
      if (!existsSync(new URL(url!, `file://${chunk}`)))
        throw new Error(`${chunk} reads ${url}, which the package lacks: see assets in bundle.ts`);
}
