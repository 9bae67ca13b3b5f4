import { fileURLToPath } from 'node:url';

/** The project's folder, with a slash at its end. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** The build goes here: made before packing, removed afterwards, never read from a checkout. */
export const output = `${root}dist/`;
