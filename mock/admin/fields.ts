import { wrongAt } from '../session.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The body as an object with no other fields than these. */
export function fieldsOf(body: unknown, known: readonly string[]): Fields {
  const fields = body ?? {};
  if (typeof fields !== 'object' || Array.isArray(fields))
    throw wrongAt('', 'the body has to be a JSON object');
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw wrongAt(unknown, `is unknown here; known are ${known.join(', ') || 'none'}`);
  return fields as Fields;
}

/** A number of the body from `least` on; undefined where it is missing. */
export function numberAt(fields: Fields, name: string, least: number): number | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isFinite(value) && value >= least) return value;
  throw wrongAt(name, `has to be a number from ${least} on, not ${shown(value)}`);
}

/** A whole number of the body from `least` on; undefined where it is missing. */
export function wholeAt(fields: Fields, name: string, least: number): number | undefined {
  const value = numberAt(fields, name, least);
  if (value === undefined || Number.isSafeInteger(value)) return value;
  throw wrongAt(name, `has to be a whole number, not ${value}`);
}

/** A text of the body; undefined where it is missing. */
export function textAt(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || typeof value === 'string') return value;
  // It may be a key: it is not repeated.
  throw wrongAt(name, 'has to be a text');
}

/** A value that has to be there. */
export function needed<Value>(name: string, value: Value | undefined, what: string): Value {
  if (value === undefined) throw wrongAt(name, `is missing: ${what}`);
  return value;
}

/** A whole number of the query from 0 on. */
export function countIn(query: URLSearchParams, name: string, otherwise: number): number {
  const text = query.get(name);
  if (text === null) return otherwise;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw wrongAt(name, `has to be a whole number from 0 on, not ${shown(text)}`);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
