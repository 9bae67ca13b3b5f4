import { readFile } from 'node:fs/promises';
import type { Fixture } from '../schemas/generated/types.ts';
import { Problem } from '../schemas/problem.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Loads a fixture from a file, or the built-in one.
 *
 * @throws Problem with code `fixture`: what is wrong, and where in the file
 */
export async function loadFixture(file: string | undefined, env: Environment): Promise<Fixture> {
  // A test has checked the built-in one: it costs no start the time of a check.
  if (file === undefined) return JSON.parse(await readFile(builtInFixture, 'utf8')) as Fixture;
  const text = await readText(file);
  const { readFixture } = await import('../schemas/read-fixture.ts');
  return readFixture(text, file, env);
}

/** The fixture that the mock serves on its own. */
export const builtInFixture: URL = new URL('../schemas/built-in.fixture.json', import.meta.url);

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === undefined ? undefined : reasons[code];
    throw new Problem('fixture', `${file}: ${why ?? `cannot be read (${code})`}`);
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; `ib-conformance fixture check <file>` says what a fixture needs',
  EISDIR: 'is a folder, not a fixture file',
  EACCES: 'may not be read: check its permissions',
};
