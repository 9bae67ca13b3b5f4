import { writeFile } from 'node:fs/promises';
import { build, type BuildOptions, type Metafile, type Plugin } from 'esbuild';
import { distFolder, root } from '../paths.ts';

/** The entry points of the API. */
export const api = { index: 'bin/api/index.ts', mock: 'mock/index.ts', 'node-test': 'bin/api/node-test.ts' };

/** Options by bundle. */
const bundles = {
  esm: {
    format: 'esm',
    entryPoints: { ...api, main: 'bin/main.ts' },
    outExtension: { '.js': '.mjs' },
    splitting: true,
    // CommonJS packages load Node's modules with `require`. Bundlers of users leave this one alone.
    banner: { js: 'const require=process.getBuiltinModule;' },
  },
  // CommonJS has no shared chunks: a file for each entry would repeat most of the code. Each starts only what it needs.
  cjs: {
    format: 'cjs',
    stdin: {
      contents: Object.entries(api)
        .map(([name, file]) => `exports['${name}'] = () => require('./${file}');`)
        .join('\n'),
      resolveDir: root,
    },
    entryNames: 'all',
    outExtension: { '.js': '.cjs' },
  },
  // undici and what imports it, which is half of all. The other bundles share it.
  undici: {
    format: 'cjs',
    entryPoints: { undici: 'suites/client/route.ts' },
    outExtension: { '.js': '.cjs' },
    banner: { js: 'var require=process.getBuiltinModule;' },
  },
} as const satisfies Record<string, BuildOptions>;

const withoutRoute: Plugin = {
  name: 'without-route',
  setup: (bundler) =>
    bundler.onResolve({ filter: /\/route\.ts$/ }, ({ kind }) =>
      kind === 'entry-point' ? undefined : { path: './route.cjs', external: true },
    ),
};

/**
 * Bundles the command line and the entry points of the API.
 *
 * @param folder output folder with a trailing slash, next to `schemas/` and `package.json`
 */
export async function bundle(name: keyof typeof bundles, folder = distFolder): Promise<Metafile> {
  const { metafile } = await build({
    ...bundles[name],
    plugins: [withoutRoute],
    absWorkingDir: root,
    outdir: folder,
    bundle: true,
    platform: 'node',
    target: 'node20.20',
    mainFields: ['module', 'main'],
    // No minified names, so that stack traces are readable.
    minifySyntax: true,
    minifyWhitespace: true,
    // Node prints the line of an uncaught error before its message. Shorter lines make the package larger.
    lineLimit: 500,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  // Node 20 takes 40 ms to find the exports of undici.cjs for an `import`. It does not look behind this `require`.
  const route = "exports.openRoute = require('./undici.cjs').openRoute;\n";
  if (name === 'undici') await writeFile(`${folder}route.cjs`, route);
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
