import type { ErrorObject } from 'ajv';
import validate from './generated/fixture.cjs';
import type { Fixture, FixtureDeposit, FixtureUser, FixtureApiKey } from './generated/types.ts';
import { parseJson, schemaProblems } from './json.ts';
import { collectProblems, quoted, type Problems } from './problem.ts';
import { oncePer } from './values.ts';

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

/**
 * Returns users and deposits by their ids in lower case. Of entries with the same id, the last one counts. Copies of a
 * fixture share the maps of their lists, so the lists must not change afterwards.
 */
export const indexOf = ({ users = [], deposits = [] }: Fixture) => ({
  users: usersById(users),
  deposits: depositsById(deposits),
});

const usersById = oncePer((users: readonly FixtureUser[]) => indexed(users, ({ user_id }) => user_id));
const depositsById = oncePer((deposits: readonly FixtureDeposit[]) =>
  indexed(deposits, ({ reference_id }) => reference_id),
);

function indexed<Item>(items: readonly Item[], idOf: (item: Item) => string): ReadonlyMap<string, Item> {
  const index = new Map<string, Item>();
  // A list of pairs would double the memory.
  for (const item of items) index.set(idOf(item).toLowerCase(), item);
  return index;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** A reference to an environment variable: `${NAME}`. */
export const variableReference = /\$\{([^}]*)\}/g;

/** A key as the fixture writes it, with `${NAME}`. A symbol: JSON and schemas do not have it, and copies keep it. */
const written = Symbol('written');
type Expanded = FixtureApiKey & { readonly [written]?: string };

/** Replaces `${NAME}` in keys with environment variables. Reports missing and invalid variables. */
export function expandKeys(fixture: Fixture, env: Environment) {
  const problems: string[] = [];
  const apiKeys = fixture.apiKeys?.map((apiKey, index) => {
    const key = apiKey.key.replace(variableReference, (_, name: string) => {
      const value = env[name];
      if (value === undefined || value === '')
        problems.push(
          `apiKeys[${index}].key needs the environment variable ${name}, which is not set: export ${name}=…`,
        );
      else if (!/^[!-~]+$/.test(value))
        problems.push(
          `apiKeys[${index}].key: the environment variable ${name} has characters that a header cannot contain (spaces, line ends or non-ASCII)`,
        );
      return value ?? '';
    });
    return { ...apiKey, key, ...(key !== apiKey.key && { [written]: apiKey.key }) };
  });
  return { problems, fixture: { ...fixture, ...(apiKeys && { apiKeys }) } };
}

/**
 * Adds the names that outputs show instead of keys: `<key northwind/active>`. Further keys of the same partner and
 * state get a number.
 */
export function namedKeys<Key extends FixtureApiKey>(apiKeys: readonly Key[]) {
  const seen = new Map<string, number>();
  return apiKeys.map((apiKey) => {
    const described = `${apiKey.partner ?? 'non-partner'}/${apiKey.state}`;
    const nth = (seen.get(described) ?? 0) + 1;
    seen.set(described, nth);
    return { ...apiKey, name: `<key ${described}${nth > 1 ? `/${nth}` : ''}>` };
  });
}

/** What a variable is named after, by state of the key. */
const kindOf = ({ state, partner }: FixtureApiKey, tested: FixtureApiKey | undefined) => {
  if (state !== 'active') return state;
  return partner === null ? 'non_partner' : partner === tested?.partner ? 'api' : 'other';
};

/**
 * Names the shell variables that commands read keys from, by key. A key that the fixture writes as `${NAME}` has that
 * name. Others are named by kind: `IB_API_KEY` of the partner under test, `IB_OTHER_KEY`, `IB_REVOKED_KEY`,
 * `IB_EXPIRED_KEY`, `IB_NON_PARTNER_KEY`. Further ones of a kind get a number, in the order of the fixture.
 *
 * @param tested the key under test: the first of its kind, wherever it is
 */
export function keyVariables(apiKeys: readonly Expanded[], tested?: Expanded): ReadonlyMap<string, string> {
  const templates = apiKeys.flatMap((one) => [...(one[written] ?? '').matchAll(variableReference)]);
  // A variable with a part of a key is not the key.
  const taken = new Set(templates.map(([, name]) => name));
  const counts = new Map<string, number>();
  const variables = new Map<string, string>();
  for (const one of [...(tested ? [tested] : []), ...apiKeys]) {
    if (variables.has(one.key)) continue;
    const kind = `IB_${kindOf(one, tested).toUpperCase()}_KEY`;
    let nth = (counts.get(kind) ?? 0) + 1;
    const nameOf = () => (nth === 1 ? kind : `${kind}_${nth}`);
    const [, own] = /^\$\{([a-z_]\w*)\}$/i.exec(one[written] ?? '') ?? [];
    if (own === undefined) while (taken.has(nameOf())) nth++;
    counts.set(kind, nth);
    variables.set(one.key, own ?? nameOf());
  }
  return variables;
}

/** Keys as shells and CI systems leave them if they do not replace a variable, or hide its value. */
const unexpanded: Readonly<Record<string, RegExp>> = {
  'a variable that was not replaced': /^\$\w+$|^\$?\{\{.*\}\}$|^%\w+%$/,
  'a text in quotes': /^(["'`]).*\1$/,
  'a value that was hidden': /^[*•x]{3,}$/i,
  'a placeholder': /^<.+>$|^\.{3}$|^…$/,
};

/** Before this time (ms, 1973), a number of ms is likelier one of seconds: as seconds, it is before the year 5139. */
const FIRST_MS = 1e11;

/** What a valid fixture has that is likely a mistake, with its place. No key is shown. */
export function fixtureWarnings({ apiKeys = [], deposits = [] }: Fixture): readonly string[] {
  const keys = apiKeys.flatMap(({ key }, at) =>
    Object.entries(unexpanded).flatMap(([what, pattern]) =>
      pattern.test(key.trim()) ? [`apiKeys[${at}].key looks like ${what}`] : [],
    ),
  );
  const early = deposits.findIndex((one) => one.state === 'EXECUTED' && one.executedAt < FIRST_MS);
  const deposit = deposits[early];
  if (deposit?.state !== 'EXECUTED') return keys;
  const year = new Date(deposit.executedAt).getUTCFullYear();
  return [...keys, `deposits[${early}].executedAt is in ${year}: it is in ms, and this may be seconds`];
}
