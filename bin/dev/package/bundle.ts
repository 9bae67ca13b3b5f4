import { build, type BuildOptions, type Metafile } from 'esbuild';
import { distFolder, root } from '../paths.ts';

/** The entry points of the API. */
const api = { index: 'bin/api/index.ts', mock: 'mock/index.ts', 'node-test': 'bin/api/node-test.ts' };

/** Options by module format. */
const formats = {
  esm: {
    entryPoints: { ...api, main: 'bin/main.ts' },
    outExtension: { '.js': '.mjs' },
    splitting: true,
    // CommonJS packages load Node's modules with `require`. Bundlers of users leave this one alone.
    banner: { js: 'const require=process.getBuiltinModule;' },
  },
  cjs: {
    entryPoints: api,
    outExtension: { '.js': '.cjs' },
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
