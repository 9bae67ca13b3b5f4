import type { ErrorObject } from 'ajv';
import { parseTree, printParseErrorCode, type ParseError } from 'jsonc-parser';
import validate from './generated/fixture.cjs';
import type { Fixture } from './generated/types.ts';
import { Problem } from './problem.ts';

/** How many problems of one fixture are listed before the rest is only counted. */
const MOST_PROBLEMS = 20;

/**
 * Reads a fixture and checks it whole: syntax, schema, references between its parts.
 * `${NAME}` in a key is replaced by the environment variable of that name.
 *
 * @param text the JSON text
 * @param where how messages name the file
 * @param env the environment that keys may refer to
 * @throws Problem with code `fixture`, a line for each problem with its place in the file
 */
export function readFixture(
  text: string,
  where: string,
  env: Readonly<Record<string, string | undefined>>,
): Fixture {
  const fixture = parse(text.replace(/^\uFEFF/, ''), where);
  if (!validate(fixture)) throw fixtureProblem(where, (validate.errors ?? []).map(describe));
  const expanded = expandKeys(fixture, env);
  const problems = [...expanded.problems, ...crossCheck(expanded.fixture)];
  if (problems.length > 0) throw fixtureProblem(where, problems);
  return expanded.fixture;
}

function fixtureProblem(where: string, problems: readonly string[]): Problem {
  const distinct = [...new Set(problems)];
  const listedFirst = distinct.slice(0, MOST_PROBLEMS).map((problem) => `${where}: ${problem}`);
  const hidden = distinct.length - listedFirst.length;
  return new Problem(
    'fixture',
    [...listedFirst, ...(hidden > 0 ? [`${where}: and ${hidden} more`] : [])].join('\n'),
  );
}

/** `JSON.parse` is fast but does not always say where; only broken text is read again by a parser that does. */
function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const errors: ParseError[] = [];
    parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
    const offset = errors[0]?.offset ?? text.length;
    const before = text.slice(0, offset).split('\n');
    const word = errors[0] === undefined ? 'not JSON' : wordsOfSyntaxError(errors[0]);
    throw new Problem(
      'fixture',
      `${where}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}: is not JSON: ${word}`,
    );
  }
}

/** `PropertyNameExpected` → `property name expected` */
function wordsOfSyntaxError({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
}

/** `/users/3/date_joined` → `users[3].date_joined` */
function placeOf(instancePath: string): string {
  const parts = instancePath.split('/').slice(1);
  return parts
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : `${index > 0 ? '.' : ''}${part}`))
    .join('');
}

const listed = (values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).join(', ');

/** Values are shown, but never a key's. */
function shown(error: ErrorObject): string {
  if (error.instancePath.endsWith('/key')) return '';
  const text = JSON.stringify(error.data) ?? 'undefined';
  return `: ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`;
}

function describe(error: ErrorObject): string {
  const place = placeOf(error.instancePath) || 'the fixture';
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case 'additionalProperties': {
      const known = Object.keys((error.parentSchema?.['properties'] ?? {}) as object);
      return `${place} has an unknown key ${listed([params['additionalProperty']])}; known are ${listed(known)}`;
    }
    case 'required':
      return `${place} lacks ${listed([params['missingProperty']])}`;
    case 'discriminator':
      return `${place}.state is not one of "EXECUTED", "pending", "failed"`;
    case 'enum':
      return `${place} is not one of ${listed(params['allowedValues'] as unknown[])}${shown(error)}`;
    case 'const':
      return `${place} is not ${listed([params['allowedValue']])}${shown(error)}`;
    default: {
      // Descriptions of scalars complete the sentence "… is not".
      const words = error.parentSchema?.['description'] as string | undefined;
      const isNoun = words !== undefined && /^an? /.test(words);
      return `${place} ${isNoun ? `is not ${words}` : error.message}${shown(error)}`;
    }
  }
}

function expandKeys(fixture: Fixture, env: Readonly<Record<string, string | undefined>>) {
  const problems: string[] = [];
  const apiKeys = fixture.apiKeys?.map((apiKey, index) => {
    const key = apiKey.key.replace(/\$\{([^}]*)\}/g, (_, name: string) => {
      const value = env[name];
      if (value === undefined || value === '')
        problems.push(
          `apiKeys[${index}].key needs the environment variable ${name}, which is not set: export ${name}=…`,
        );
      else if (!/^[!-~]+$/.test(value))
        problems.push(
          `apiKeys[${index}].key: the environment variable ${name} holds something that does not fit into a header (spaces, line ends or non-ASCII)`,
        );
      return value ?? '';
    });
    return { ...apiKey, key };
  });
  return { problems, fixture: apiKeys === undefined ? fixture : { ...fixture, apiKeys } };
}

/** What a schema cannot say: no duplicates, no dangling references, one trigger for each transition. */
function crossCheck(fixture: Fixture): string[] {
  const { partners, apiKeys = [], users = [], deposits = [] } = fixture;
  const partnerIds = partners && new Set(partners.map(({ id }) => id));
  const userIds = new Set(users.map(({ user_id }) => user_id.toLowerCase()));
  const ofPartner = (place: string, items: readonly { readonly partner: string | null }[]) =>
    items.flatMap(({ partner }, index) =>
      partner === null || partnerIds === undefined || partnerIds.has(partner)
        ? []
        : [`${place}[${index}].partner ${listed([partner])} is not among the partners`],
    );
  return [
    ...duplicates(
      'partners',
      'id',
      (partners ?? []).map(({ id }) => id),
    ),
    ...duplicates(
      'apiKeys',
      'key',
      apiKeys.map(({ key }) => key),
    ).map(withoutValue),
    ...duplicates(
      'users',
      'user_id',
      users.map(({ user_id }) => user_id.toLowerCase()),
    ),
    ...duplicates(
      'deposits',
      'reference_id',
      deposits.map(({ reference_id }) => reference_id.toLowerCase()),
    ),
    ...ofPartner('apiKeys', apiKeys),
    ...apiKeys.flatMap(({ expiresAt, expiresAfterSeconds }, index) =>
      expiresAt !== undefined && expiresAfterSeconds !== undefined
        ? [`apiKeys[${index}] has both "expiresAt" and "expiresAfterSeconds": one is enough`]
        : [],
    ),
    ...ofPartner('users', users),
    ...deposits.flatMap((deposit, index) => {
      const place = `deposits[${index}]`;
      const problems: string[] = [];
      if (!userIds.has(deposit.user_id.toLowerCase()))
        problems.push(`${place}.user_id ${listed([deposit.user_id])} is not among the users`);
      if (deposit.state === 'pending' && deposit.becomes !== undefined) {
        const { afterPolls, afterSeconds } = deposit.becomes;
        if ((afterPolls === undefined) === (afterSeconds === undefined))
          problems.push(`${place}.becomes needs either "afterPolls" or "afterSeconds"`);
      }
      return problems;
    }),
  ];
}

function duplicates(place: string, field: string, values: readonly string[]): string[] {
  const first = new Map<string, number>();
  return values.flatMap((value, index) => {
    const earlier = first.get(value);
    if (earlier !== undefined)
      return [`${place}[${index}].${field} is the same as ${place}[${earlier}].${field}: ${listed([value])}`];
    first.set(value, index);
    return [];
  });
}

const withoutValue = (problem: string) => problem.replace(/: ".*"$/s, '');
