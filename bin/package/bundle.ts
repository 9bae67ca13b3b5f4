import { build, type Metafile, type Plugin } from 'esbuild';
import { files } from './files.ts';
import { output, root } from './paths.ts';
import { standIns } from './stand-ins.ts';

/** What is built, by the name of its file. The command line's part and the API's parts share their chunks. */
const entries = {
  main: 'bin/main.ts',
  'self-test-worker': 'bin/self-test-share.ts',
  index: 'bin/api/index.ts',
  mock: 'bin/api/mock.ts',
  'node-test': 'bin/node-test.ts',
} as const;

/**
 * Commands that are imported when they are called stay files of their own; names stay, so that a stack can be read.
 *
 * @param folder to be filled, with a slash at its end
 */
export async function bundle(folder = output): Promise<Metafile> {
  const plugins: Plugin[] = [standIns, files(Object.keys(entries), folder)];
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir: folder,
    entryNames: '[name]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.20',
    mainFields: ['module', 'main'],
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    metafile: true,
    // Packages in CommonJS ask for node's own modules with `require`.
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
    plugins,
    logLevel: 'warning',
    logOverride: { 'ignored-bare-import': 'silent' },
  });
  return metafile;
}
