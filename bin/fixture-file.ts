import builtIn from '../schemas/built-in.fixture.json' with { type: 'json' };
import { type Environment, readFixture } from '../schemas/fixture.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { readText, shownName, type Input } from './input-files.ts';

/**
 * Loads a fixture from a file, or the built-in one; `-` is standard input.
 *
 * @throws Problem with code `fixture`, a line for each problem with its place in the file
 */
export async function loadFixture(
  file: string | undefined,
  env: Environment,
  input: Input = {},
): Promise<Fixture> {
  // A test validates the built-in fixture, so starting stays fast.
  if (file === undefined) return builtIn as Fixture;
  const text = await readText(file, input, { messages, code: 'fixture' });
  return readFixture(text, shownName(file), env);
}

const tooLarge = 'is too large: the limit is 512 MB';
const messages = {
  ENOENT: 'there is no such file; `ib-conformance init` writes a first one',
  EISDIR: 'is a folder, not a fixture file',
  EACCES: 'cannot be read: check its permissions',
  ERR_STRING_TOO_LONG: tooLarge,
  ERR_FS_FILE_TOO_LARGE: tooLarge,
};
