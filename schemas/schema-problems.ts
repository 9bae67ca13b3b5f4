import type { ErrorObject } from 'ajv';
import { listed } from './fixture-problems.ts';

/**
 * What a validator found wrong with a file, in words, each with its place.
 *
 * @param offset of the first element, where a part of an array was validated
 * @param whole what the file is called where it is wrong as a whole
 */
export function schemaProblems(
  errors: readonly ErrorObject[],
  offset = 0,
  whole = 'the fixture',
): readonly string[] {
  return errors.map((error) => {
    const instancePath = error.instancePath.replace(
      /^(\/\w+\/)(\d+)/,
      (_, array: string, index: string) => `${array}${Number(index) + offset}`,
    );
    return describe({ ...error, instancePath }, whole);
  });
}

/** What says which kind of object one is, and its values. */
const tags = {
  state: ['EXECUTED', 'pending', 'failed'],
  outcome: ['passed', 'failed', 'inconclusive', 'observed', 'excluded', 'broken'],
} as const;

/** `/users/3/date_joined` → `users[3].date_joined` */
function placeOf(instancePath: string): string {
  const parts = instancePath.split('/').slice(1);
  return parts
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : `${index > 0 ? '.' : ''}${part}`))
    .join('');
}

/** Values are shown, but never a key's. */
function shown(error: ErrorObject): string {
  if (error.instancePath.endsWith('/key')) return '';
  const text = JSON.stringify(error.data) ?? 'undefined';
  return `: ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`;
}

function describe(error: ErrorObject, whole: string): string {
  const place = placeOf(error.instancePath) || whole;
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case 'additionalProperties': {
      const known = Object.keys((error.parentSchema?.['properties'] ?? {}) as object);
      return `${place} has an unknown key ${listed([params['additionalProperty']])}; known are ${listed(known)}`;
    }
    case 'unevaluatedProperties':
      return `${place} has an unknown key ${listed([params['unevaluatedProperty']])}`;
    case 'required':
      return `${place} lacks ${listed([params['missingProperty']])}`;
    case 'discriminator': {
      const tag = params['tag'] as keyof typeof tags;
      return `${place}.${tag} is not one of ${listed(tags[tag])}`;
    }
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
