import type { ErrorObject } from 'ajv';
import { parse, printParseErrorCode, type ParseError, type ParseErrorCode } from 'jsonc-parser';
import { Problem, quoted, type ProblemCode } from './problem.ts';

/**
 * Parses a JSON file. Ignores a byte order mark.
 *
 * @param where name of the file in messages
 * @throws Problem with the code, and the line and column of the first error
 */
export function parseJson(text: string, where: string, code: ProblemCode): unknown {
  const json = text.replace(/^\uFEFF/, '');
  try {
    return JSON.parse(json);
  } catch {
    const { line, column, words } = syntaxErrorIn(json);
    throw new Problem(code, `${where}:${line}:${column}: is not JSON: ${words}`);
  }
}

/**
 * Returns the first syntax error of invalid JSON: line and column, counted from 1, and a description, which
 * quotes nothing because the text may contain keys.
 */
export function syntaxErrorIn(text: string) {
  const errors: ParseError[] = [];
  let words = 'not JSON';
  try {
    parse(text, errors, { disallowComments: true, allowTrailingComma: false });
  } catch (error) {
    // The parser is recursive.
    if (!(error instanceof RangeError)) throw error;
    words = 'nested too deeply';
  }
  const [first] = errors;
  if (first !== undefined) words = wordsOf(first.error);
  const before = text.slice(0, first?.offset ?? text.length).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1, words };
}

/** `PropertyNameExpected` → `property name expected` */
const wordsOf = (code: ParseErrorCode) =>
  printParseErrorCode(code)
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();

/**
 * Returns functions that describe the errors of a validator, each with its place.
 *
 * @param whole name of the value itself, if the error has no place inside it
 * @param offset index of the first element, if only a part of an array was validated
 */
export const schemaProblems = (
  errors: readonly ErrorObject[] | null | undefined,
  whole: string,
  offset = 0,
): readonly (() => string)[] =>
  (errors ?? []).map((error) => () => describe(error, placeOf(error.instancePath, offset) || whole));

/** `/users/3/date_joined` → `users[3].date_joined` */
function placeOf(instancePath: string, offset: number): string {
  const parts = instancePath.split('/').slice(1);
  return parts
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, level) => {
      if (!/^\d+$/.test(part)) return level > 0 ? `.${part}` : part;
      return `[${level === 1 ? Number(part) + offset : part}]`;
    })
    .join('');
}

/** Allowed values of the discriminator fields. */
const discriminators = {
  state: ['EXECUTED', 'pending', 'failed'],
  outcome: ['passed', 'failed', 'inconclusive', 'observed', 'excluded', 'broken'],
} as const;

function describe(error: ErrorObject, place: string): string {
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case 'additionalProperties': {
      const known = Object.keys((error.parentSchema?.['properties'] ?? {}) as object);
      const others = known.length === 0 ? 'it has none' : `known are ${quoted(...known)}`;
      return `${place} has an unknown key ${quoted(params['additionalProperty'])}; ${others}`;
    }
    case 'unevaluatedProperties':
      return `${place} has an unknown key ${quoted(params['unevaluatedProperty'])}`;
    case 'minProperties':
      return `${place} is empty`;
    case 'required':
      return `${place} lacks ${quoted(params['missingProperty'])}`;
    case 'discriminator': {
      const tag = params['tag'] as keyof typeof discriminators;
      return `${place}.${tag} is not one of ${quoted(...discriminators[tag])}`;
    }
    case 'enum':
      return `${place} is not one of ${quoted(...(params['allowedValues'] as unknown[]))}${shownValue(error)}`;
    case 'const':
      return `${place} is not ${quoted(params['allowedValue'])}${shownValue(error)}`;
    default: {
      // The descriptions of scalars complete the sentence "… is not".
      const words = error.parentSchema?.['description'] as string | undefined;
      const isNoun = words !== undefined && /^an? /.test(words);
      return `${place} ${isNoun ? `is not ${words}` : error.message}${shownValue(error)}`;
    }
  }
}

/** Shows the invalid value, except for keys. */
function shownValue({ instancePath, data }: ErrorObject): string {
  if (instancePath.endsWith('/key')) return '';
  const text = JSON.stringify(data) ?? 'undefined';
  return `: ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`;
}
