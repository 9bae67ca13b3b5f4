import { badRequest } from '../session.ts';

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** A field of a body, or a parameter. `Value` is the type of its values. */
export interface Field<Value = unknown> {
  readonly schema: Schema;
  /** What a value must be, in words, and the check of it. */
  readonly must: string;
  readonly has: (value: unknown) => boolean;
  readonly isRequired?: boolean;
  /** Only a type. */
  readonly value?: Value;
}
export type Fields = Readonly<Record<string, Field>>;

type ValueOf<One> = One extends Field<infer Value> ? Value : never;
interface Required {
  readonly isRequired: true;
}
/** The values of fields. Keeps their documentation. */
export type ValuesOf<Declared extends Fields> = {
  readonly [Name in keyof Declared as Declared[Name] extends Required ? Name : never]: ValueOf<
    Declared[Name]
  >;
} & {
  readonly [Name in keyof Declared as Declared[Name] extends Required ? never : Name]?:
    ValueOf<Declared[Name]> | undefined;
};

/** Declares a field that must be given. */
export const required = <Value>(field: Field<Value>, description: string) => ({
  ...field,
  schema: { ...field.schema, description },
  isRequired: true as const,
});

export const text = (more: Schema = {}): Field<string> => ({
  schema: { type: 'string', ...more },
  must: 'be a string',
  has: (value) => typeof value === 'string',
});

export const number = (minimum = 0): Field<number> => ({
  schema: { type: 'number', minimum },
  must: `be a number of at least ${minimum}`,
  has: (value) => Number.isFinite(value) && Number(value) >= minimum,
});

/** @param more such as a description, or a default for HTTP */
export const integer = (minimum?: number, more: Schema = {}): Field<number> => ({
  schema: { type: 'integer', ...(minimum !== undefined && { minimum }), ...more },
  must: `be a whole number${minimum === undefined ? '' : ` of at least ${minimum}`}`,
  has: (value) => Number.isSafeInteger(value) && Number(value) >= (minimum ?? -Infinity),
});

export const oneOf = <const Word extends string>(words: readonly Word[], more: Schema = {}): Field<Word> => ({
  schema: { type: 'string', enum: words, ...more },
  must: `be one of ${words.join(', ')}`,
  has: (value) => words.includes(value as Word),
});

/**
 * Checks that an object has only declared fields, and returns it.
 *
 * @throws Refusal with 400 and the first wrong field
 */
export function checkFields(declared: Fields, given: object): object {
  const values = given as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(values).find((name) => !Object.hasOwn(declared, name));
  if (unknown !== undefined)
    throw badRequest(unknown, `is unknown; known: ${Object.keys(declared).join(', ') || 'none'}`);
  for (const [name, { schema, must, has, isRequired }] of Object.entries(declared)) {
    const value = values[name];
    if (value === undefined && isRequired === true)
      throw badRequest(name, `is missing: ${String(schema['description'])}`);
    if (value === undefined || has(value)) continue;
    // The message repeats only numbers: another value may be a key.
    const isNumber = schema['type'] === 'number' || schema['type'] === 'integer';
    throw badRequest(name, `must ${must}${isNumber ? `, not ${JSON.stringify(value)?.slice(0, 80)}` : ''}`);
  }
  return values;
}
