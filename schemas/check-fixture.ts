import { crossCheck } from './cross-check.ts';
import { expandKeys, type Environment } from './expand-keys.ts';
import { collectProblems } from './fixture-problems.ts';
import validate from './generated/fixture.cjs';
import type { Fixture } from './generated/types.ts';
import { isPlain } from './quick-check.ts';
import { schemaProblems } from './schema-problems.ts';

/**
 * Checks a fixture whole: schema, and references between its parts. `${NAME}` in a key is replaced by
 * the environment variable of that name.
 *
 * @param where how messages name the fixture
 * @throws Problem with code `fixture`, a line for each problem with its place
 */
export function checkFixture(fixture: unknown, where: string, env: Environment): Fixture {
  const problems = collectProblems(where);
  if (!validate(withoutPlainLists(fixture))) problems.add(schemaProblems(validate.errors ?? []));
  problems.throwIfAny();
  return finishFixture(fixture as Fixture, where, env);
}

/**
 * The second half of it, for a fixture that agrees with the schema: keys from the environment, and
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

/** Lists in which all is plain may be long, and leave nothing for the validator to say. */
function withoutPlainLists(fixture: unknown): unknown {
  if (typeof fixture !== 'object' || fixture === null || Array.isArray(fixture)) return fixture;
  const parts = Object.entries(fixture).map(([name, part]: [string, unknown]) => {
    const isGood = Object.hasOwn(isPlain, name) ? isPlain[name] : undefined;
    return [name, isGood && Array.isArray(part) && part.every(isGood) ? [] : part];
  });
  return Object.fromEntries(parts);
}
