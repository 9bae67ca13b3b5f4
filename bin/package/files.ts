import { cp, readFile } from 'node:fs/promises';
import { dirname, join, parse, relative } from 'node:path';
import type { Plugin } from 'esbuild';
import { root } from '../dev/paths.ts';

const ours = /\/(?:bin|mock|reports|schemas|suites)\/.+\.(?:ts|mjs)$/;
const fileBesideUs = /new URL\(\s*'([^']+)',\s*import\.meta\.url\s*,?\s*\)/g;

/**
 * Files that our sources find beside themselves (`new URL('…', import.meta.url)`) are found from the
 * bundle too: code by the name of its entry, what the package carries at its place, all else copied.
 *
 * @param folder of the bundle, with a slash at its end
 * @throws Error for a path of another form, which nobody could follow
 */
export function files(entries: readonly string[], folder: string): Plugin {
  return {
    name: 'files',
    setup: (build) =>
      build.onLoad({ filter: ours }, async ({ path }) => {
        if (path.includes('/node_modules/')) return undefined;
        const text = await readFile(path, 'utf8');
        const copies: Promise<void>[] = [];
        const contents = text.replace(fileBesideUs, (_, url: string) => {
          const place = placeOf(join(dirname(path), url), entries);
          if (place.copied !== undefined)
            copies.push(cp(join(root, place.copied), join(folder, place.copied)));
          return `new URL(${JSON.stringify(place.url)}, import.meta.url)`;
        });
        const rest = contents.replaceAll(/new URL\("[^"]+", import\.meta\.url\)/g, '');
        if (/import\.meta\.(?:url|dirname|filename)/.test(rest))
          throw new Error(`${path}: only new URL('…', import.meta.url) can be followed into the package`);
        await Promise.all(copies);
        return { contents, loader: 'ts' };
      }),
  };
}

function placeOf(file: string, entries: readonly string[]) {
  const local = relative(root, file);
  const { name, ext } = parse(local);
  if (ext === '.ts' || ext === '.mjs') {
    if (!entries.includes(name)) throw new Error(`${local}: is started as a file, but is no entry`);
    return { url: `./${name}.mjs` };
  }
  if (local === 'package.json' || /^schemas\/[^/]+\.json$/.test(local)) return { url: `../${local}` };
  return { url: `./${local}`, copied: local };
}
