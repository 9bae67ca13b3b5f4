import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { output, root } from '../paths.ts';

/** Files that the bundle reads at run time, by their place in its folder. */
const assets: Readonly<Record<string, string>> = {
  'generated/page.html': 'mock/page/generated/page.html',
};

const CREATE_REQUIRE =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";

/**
 * Bundles the command line and the entries of the API. Commands are imported when they are called, so each is a
 * chunk of its own.
 *
 * @param folder to fill, with a slash at its end, beside `schemas/` and `package.json`
 */
export async function bundle(folder = output): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      main: 'bin/main.ts',
      'self-test-worker': 'bin/self-test.ts',
      index: 'bin/api/index.ts',
      mock: 'mock/index.ts',
      'node-test': 'bin/api/node-test.ts',
    },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.20',
    mainFields: ['module', 'main'],
    // Names stay readable, so that the stack of a bug is useful.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    // CommonJS packages load Node's own modules with `require`.
    banner: { js: CREATE_REQUIRE },
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
  const reads = /new URL\(\s*["'`]([^"'`]+)["'`]\s*,\s*import\.meta\.url/g;
  for (const chunk of chunks)
    for (const [, url] of readFileSync(chunk, 'utf8').matchAll(reads))
      if (!existsSync(new URL(url!, `file://${chunk}`)))
        throw new Error(`${chunk} reads ${url}, which the package lacks: see assets in bundle.ts`);
}
