import { fileURLToPath } from 'node:url';

/** The project's folder, with a slash at its end. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Where the built files go: made before packing, removed after it, never looked at from a checkout. */
export const output = `${root}dist/`;
