import fs from 'node:fs';
import builtIn from '../schemas/built-in.fixture.json' with { type: 'json' };
import type { Environment } from '../schemas/fixture-keys.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { codeOf, Problem, type ProblemCode } from '../schemas/problem.ts';
import { readFixture } from '../schemas/fixture.ts';

/** The fixture that the mock serves by default. */
export const builtInFixture: URL = new URL('../schemas/built-in.fixture.json', import.meta.url);

/**
 * Loads a fixture from a file, or the built-in one.
 *
 * @throws Problem with code `fixture`, a line for each problem with its place in the file
 */
export async function loadFixture(file: string | undefined, env: Environment): Promise<Fixture> {
  // A test validates the built-in fixture, so starting stays fast.
  if (file === undefined) return builtIn as Fixture;
  const text = await readText(file, file, messages, 'fixture');
  return readFixture(text, file, env);
}

type Reading = readonly [
  file: string,
  /** Name of the file in messages: `--ca ca.pem`. */
  what: string,
  /** Messages by system error code. */
  messages?: Readonly<Record<string, string>>,
  problem?: ProblemCode,
];

/** Reads a file that a user named. @throws Problem if it cannot be read */
export const readText = (...reading: Reading) => read((file) => fs.promises.readFile(file, 'utf8'), reading);
export const readBytes = (...reading: Reading) => read((file) => fs.promises.readFile(file), reading);

async function read<Content>(
  load: (file: string) => Promise<Content>,
  [file, what, known = {}, problem = 'usage']: Reading,
): Promise<Content> {
  try {
    return await load(file);
  } catch (error) {
    const code = codeOf(error);
    throw new Problem(problem, `${what}: ${known[code] ?? `cannot be read (${code})`}`);
  }
}

const tooLarge = 'is too large: the limit is 512 MB';
const messages = {
  ENOENT: 'there is no such file; `ib-conformance init` writes a first one',
  EISDIR: 'is a folder, not a fixture file',
  EACCES: 'cannot be read: check its permissions',
  ERR_STRING_TOO_LONG: tooLarge,
  ERR_FS_FILE_TOO_LARGE: tooLarge,
};
