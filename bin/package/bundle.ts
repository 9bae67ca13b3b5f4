import { build as esbuild, type BuildOptions, type BuildResult, type Metafile, type Plugin } from 'esbuild';
import { files } from './files.ts';
import { output, root } from '../dev/paths.ts';
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
 * Commands that are imported when they are called stay files of their own; names stay, so that a
 * stack can be read. Each file that is opened costs a start more than a millisecond, so what is
 * small and shared stands in one of them.
 *
 * @param folder to be filled, with a slash at its end
 */
export async function bundle(folder = output): Promise<Metafile> {
  const asItFalls = await built(folder, { write: false });
  const { metafile } = await built(folder, {
    plugins: [together(smallShared(asItFalls.metafile))],
    inject: [TOGETHER],
  });
  return metafile;
}

/** A chunk of fewer bytes is small. */
const SMALL = 8000;

/** Our sources in small chunks, as far as they load nothing else but each other. */
function smallShared({ outputs }: Metafile): readonly string[] {
  const isSmall = (path: string): boolean => {
    const chunk = outputs[path];
    if (chunk === undefined) return path === 'node:module';
    const { entryPoint, bytes, inputs, imports } = chunk;
    return (
      entryPoint === undefined &&
      bytes < SMALL &&
      !Object.keys(inputs).some((file) => file.includes('node_modules')) &&
      imports.every(({ kind, path: imported }) => kind !== 'import-statement' || isSmall(imported))
    );
  };
  return Object.entries(outputs).flatMap(([path, { inputs }]) => (isSmall(path) ? Object.keys(inputs) : []));
}

const TOGETHER = 'small-shared-sources';

/** A source that loads these, for all others to load. */
function together(sources: readonly string[]): Plugin {
  const contents = sources.map((source) => `import ${JSON.stringify(`./${source}`)};`).join('\n');
  return {
    name: TOGETHER,
    setup: (build) => {
      build.onResolve({ filter: new RegExp(`^${TOGETHER}$`) }, () => ({
        path: TOGETHER,
        namespace: TOGETHER,
      }));
      build.onLoad({ filter: /.*/, namespace: TOGETHER }, () => ({ contents, resolveDir: root }));
    },
  };
}

function built(
  folder: string,
  { plugins = [], ...more }: BuildOptions,
): Promise<BuildResult & { readonly metafile: Metafile }> {
  return esbuild({
    ...more,
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
    plugins: [...plugins, standIns, files(Object.keys(entries), folder)],
    logLevel: 'warning',
    logOverride: { 'ignored-bare-import': 'silent' },
  });
}
