import { fileURLToPath } from 'node:url';

/** The root folder of the repository, with a trailing slash. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Folder of the build, which exists only while npm packs. */
export const distFolder = `${root}dist/`;
