import { constants } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { Fixture } from '../schemas/generated/types.ts';
import { Problem } from '../schemas/problem.ts';
import type { Environment } from '../schemas/expand-keys.ts';

/** Files from this size (bytes) on are read piece by piece. */
const LARGE = 2 ** 24;

/** Bytes that are read at once. */
const BLOCK = 2 ** 18;

/**
 * Loads a fixture from a file, or the built-in one.
 *
 * @throws Problem with code `fixture`: what is wrong, and where in the file
 */
export async function loadFixture(file: string | undefined, env: Environment): Promise<Fixture> {
  // A test has checked the built-in one: it costs no start the time of a check.
  if (file === undefined) return JSON.parse(await readFile(builtInFixture, 'utf8')) as Fixture;
  const size = await sizeOf(file);
  const large = size < LARGE ? undefined : await readLarge(file, env);
  if (large !== undefined) return large;
  if (size > constants.MAX_STRING_LENGTH)
    throw new Problem('fixture', `${file}: is not JSON, or has a member twice; it is too large to say where`);
  const text = await readText(file);
  const { readFixture } = await import('../schemas/read-fixture.ts');
  return readFixture(text, file, env);
}

async function readLarge(file: string, env: Environment): Promise<Fixture | undefined> {
  const { readLargeFixture } = await import('../schemas/read-large-fixture.ts');
  return readLargeFixture(blocksOf(file), file, env);
}

/** In bytes; 0 for what is no file, such as a pipe, and can be read once only. */
async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  return found?.isFile() === true ? found.size : 0;
}

/** Reads on while a block is being worked at. */
async function* blocksOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file, { highWaterMark: BLOCK }) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** The fixture that the mock serves on its own. */
export const builtInFixture: URL = new URL('../schemas/built-in.fixture.json', import.meta.url);

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): Problem {
  const { code } = error as NodeJS.ErrnoException;
  const why = code === undefined ? undefined : reasons[code];
  return new Problem('fixture', `${file}: ${why ?? `cannot be read (${code})`}`);
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; `ib-conformance init` writes a first one',
  EISDIR: 'is a folder, not a fixture file',
  EACCES: 'may not be read: check its permissions',
};
