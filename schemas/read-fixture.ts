import { crossCheck } from './cross-check.ts';
import { expandKeys, type Environment } from './expand-keys.ts';
import { collectProblems } from './fixture-problems.ts';
import { schemaProblems } from './schema-problems.ts';
import validate from './generated/fixture.cjs';
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
  const fixture = parseJson(text.replace(/^\uFEFF/, ''), where, 'fixture');
  const problems = collectProblems(where);
  if (!validate(fixture)) problems.add(schemaProblems(validate.errors ?? []));
  problems.throwIfAny();
  return finishFixture(fixture as Fixture, where, env);
}

/**
 * The second half of reading a fixture that agrees with the schema: keys from the environment, and
 * what a schema cannot say.
 *
 * @throws Problem with code `fixture`
 */
export function finishFixture(fixture: Fixture, where: string, env: Environment): Fixture {
  const expanded = expandKeys(fixture, env);
  const problems = collectProblems(where);
  problems.add(expanded.problems);
  problems.add(crossCheck(expanded.fixture));
  problems.throwIfAny();
  return expanded.fixture;
}
