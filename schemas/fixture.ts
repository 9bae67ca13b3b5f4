import type { ErrorObject } from 'ajv';
import { expandKeys, type Environment } from './fixture-keys.ts';
import { indexOf } from './fixture-index.ts';
import validate from './generated/fixture.cjs';
import type { Fixture } from './generated/types.ts';
import { parseJson, schemaProblems } from './json.ts';
import { collectProblems, quoted, type Problems } from './problem.ts';

/**
 * Parses and checks a fixture.
 *
 * @param text the JSON text
 * @param where name of the file in messages
 * @param env variables for `${NAME}` in keys
 * @throws Problem with code `fixture`, a line for each problem with its place in the file
 */
export function readFixture(text: string, where: string, env: Environment): Fixture {
  return checkFixture(parseJson(text, where, 'fixture'), where, env);
}

/**
 * Validates a fixture against the schema, and the references between its parts. Replaces `${NAME}` in keys
 * with environment variables.
 *
 * @param where name of the fixture in messages
 * @throws Problem with code `fixture`, a line for each problem with its place
 */
export function checkFixture(fixture: unknown, where: string, env: Environment): Fixture {
  const problems = collectProblems(where);
  checkSchema(fixture, problems);
  problems.throwIfAny();
  const expanded = expandKeys(fixture as Fixture, env);
  problems.add(expanded.problems);
  problems.add(crossCheck(expanded.fixture));
  problems.throwIfAny();
  return expanded.fixture;
}

/** Number of records per call of the validator. */
const BATCH = 100;

/**
 * Validates lists in batches. The validator copies its list of errors for each invalid record, so without
 * batches the time would grow with the square of the number of errors.
 */
function checkSchema(fixture: unknown, problems: Problems): void {
  const check = (value: unknown, offset = 0) => {
    if (!validate(value))
      problems.add(schemaProblems(validate.errors?.filter(isFirstAtPlace), 'the fixture', offset));
  };
  if (typeof fixture !== 'object' || fixture === null || Array.isArray(fixture)) return check(fixture);
  const rest: Record<string, unknown> = { ...fixture };
  for (const part of ['partners', 'apiKeys', 'users', 'deposits']) {
    const list = rest[part];
    if (!Array.isArray(list)) continue;
    for (let from = 0; from < list.length; from += BATCH)
      check({ [part]: list.slice(from, from + BATCH) as unknown[] }, from);
    delete rest[part];
  }
  check(rest);
}

/** Drops a `format` error after a `pattern` error at the same place. */
const isFirstAtPlace = ({ keyword, instancePath }: ErrorObject, at: number, errors: readonly ErrorObject[]) =>
  keyword !== 'format' || errors[at - 1]?.instancePath !== instancePath;

/** Checks what a schema cannot: duplicates, missing references, and exactly one trigger for each `becomes`. */
function* crossCheck(fixture: Fixture): Generator<string> {
  const { partners, apiKeys = [], users = [], deposits = [] } = fixture;
  const { users: byUserId, deposits: byReferenceId } = indexOf(fixture);
  const partnerIds = new Set(partners?.map(({ id }) => id));
  yield* repeated('partners', 'id', partners ?? [], ({ id }) => id);
  yield* repeated('apiKeys', 'key', apiKeys, ({ key }) => key);
  if (byUserId.size < users.length)
    yield* repeated('users', 'user_id', users, ({ user_id }) => user_id.toLowerCase());
  if (byReferenceId.size < deposits.length)
    yield* repeated('deposits', 'reference_id', deposits, ({ reference_id }) => reference_id.toLowerCase());
  for (const [place, items] of Object.entries({ apiKeys, users }))
    for (const [index, { partner }] of items.entries())
      if (partners !== undefined && partner !== null && !partnerIds.has(partner))
        yield `${place}[${index}].partner ${quoted(partner)} is not among the partners`;
  for (const [index, { expiresAt, expiresAfterSeconds }] of apiKeys.entries())
    if (expiresAt !== undefined && expiresAfterSeconds !== undefined)
      yield `apiKeys[${index}] has both "expiresAt" and "expiresAfterSeconds": remove one`;
  for (const [index, deposit] of deposits.entries()) {
    if (!byUserId.has(deposit.user_id.toLowerCase()))
      yield `deposits[${index}].user_id ${quoted(deposit.user_id)} is not among the users`;
    if (deposit.state !== 'pending' || deposit.becomes === undefined) continue;
    const { afterPolls, afterSeconds } = deposit.becomes;
    if ((afterPolls === undefined) === (afterSeconds === undefined))
      yield `deposits[${index}].becomes needs either "afterPolls" or "afterSeconds"`;
  }
}

function* repeated<Item>(place: string, field: string, items: readonly Item[], idOf: (item: Item) => string) {
  const first = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const id = idOf(item);
    const earlier = first.get(id);
    // The value of a key is never shown.
    const value = field === 'key' ? '' : `: ${quoted(id)}`;
    if (earlier === undefined) first.set(id, index);
    else yield `${place}[${index}].${field} is the same as ${place}[${earlier}].${field}${value}`;
  }
}
