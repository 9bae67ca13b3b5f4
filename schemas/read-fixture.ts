import { printParseErrorCode, visit, type ParseErrorCode } from 'jsonc-parser';
import { crossCheck } from './cross-check.ts';
import { expandKeys, type Environment } from './expand-keys.ts';
import { collectProblems } from './fixture-problems.ts';
import { schemaProblems } from './schema-problems.ts';
import validate from './generated/fixture.cjs';
import type { Fixture } from './generated/types.ts';
import { Problem } from './problem.ts';

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
  const fixture = parse(text.replace(/^\uFEFF/, ''), where);
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

/** `JSON.parse` is fast but does not always say where; only broken text is read again by a parser that does. */
function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    let first: { readonly code: ParseErrorCode; readonly offset: number } | undefined;
    // Only looks: the tree of a large text would not fit into memory.
    const onError = (code: ParseErrorCode, offset: number) => void (first ??= { code, offset });
    visit(text, { onError }, { disallowComments: true, allowTrailingComma: false });
    const before = text.slice(0, first?.offset ?? text.length).split('\n');
    const word = first === undefined ? 'not JSON' : wordsOfSyntaxError(first.code);
    throw new Problem(
      'fixture',
      `${where}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}: is not JSON: ${word}`,
    );
  }
}

/** `PropertyNameExpected` → `property name expected` */
function wordsOfSyntaxError(code: ParseErrorCode): string {
  return printParseErrorCode(code)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
}
