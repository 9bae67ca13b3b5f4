import { checkFixture } from './check-fixture.ts';
import type { Environment } from './expand-keys.ts';
import type { Fixture } from './generated/types.ts';
import { parseJson } from './parse-json.ts';

/**
 * Reads a fixture and checks it whole: syntax, schema, references between its parts.
 * `${NAME}` in a key is replaced by the environment variable of that name.
 *
 * @param text the JSON text
 * @param where how messages name the file
 * @param env the environment that keys may refer to
 * @throws Problem with code `fixture`, a line for each problem with its place in the file
 */
export function readFixture(text: string, where: string, env: Environment): Fixture {
  return checkFixture(parseJson(text.replace(/^\uFEFF/, ''), where, 'fixture'), where, env);
}
