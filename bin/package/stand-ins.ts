import type { Plugin } from 'esbuild';
import { root } from '../dev/paths.ts';

/** Packages of which a part is enough; what a stand-in lacks fails the build. */
const replaced: readonly string[] = ['string-width', 'undici'];

/** Puts our part of a package in its place. */
export const standIns: Plugin = {
  name: 'stand-ins',
  setup: (build) =>
    build.onResolve({ filter: new RegExp(`^(?:${replaced.join('|')})$`) }, ({ path }) => ({
      path: `${root}bin/package/stand-ins/${path}.mjs`,
    })),
};
