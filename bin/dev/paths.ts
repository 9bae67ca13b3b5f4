import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The root folder of the repository, with a trailing slash. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Folder of the build. A checkout runs its sources, even if it has one. */
export const distFolder = `${root}dist/`;

/** Reads a JSON file of this project. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what is in the file
export const readJson = <Content>(file: string) => JSON.parse(readFileSync(file, 'utf8')) as Content;

/** The fixture that the mock serves by default. */
export const builtInFixture = `${root}schemas/built-in.fixture.json`;
