import type { Answer, HttpResponse } from '../exchange.ts';
import type { ControlledMock, Controls } from '../controls.ts';
import { wrongAt, type Session } from '../session.ts';

interface Field {
  readonly type: string | readonly string[];
  readonly minimum?: number;
  readonly items?: { readonly type: string };
  readonly required?: true;
  readonly description?: string;
}
type Fields = Readonly<Record<string, Field>>;

type TypeOf<Type> = Type extends 'number' | 'integer' ? number : Type extends 'string' ? string : unknown;
type ValuesOf<Declared extends Fields> = {
  readonly [Name in keyof Declared]:
    TypeOf<Declared[Name]['type']> | (Declared[Name] extends { required: true } ? never : undefined);
};

/** An admin call that may be answered. */
export interface AdminRequest<Values = Readonly<Record<string, unknown>>> {
  /** Name of the world that the call is about; the empty text is the main one. */
  readonly world: string;
  readonly controls: Controls;
  readonly mock: ControlledMock;
  /** The part of the path that matches `{id}`. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  /** The JSON of the body; undefined if there is none. */
  readonly body: unknown;
  readonly fields: Values;
}

type Handle<Values> = (session: Session, request: AdminRequest<Values>) => Answer | Promise<Answer>;

/** A route of the admin API. Its OpenAPI description is derived from it. */
export interface Route<Declared extends Fields = Fields> {
  readonly method: string;
  /** Below `/__admin`; `{id}` stands for one segment. */
  readonly path: string;
  readonly summary: string;
  readonly query?: Readonly<Record<string, string>>;
  /** The only fields that a body may have. */
  readonly fields?: Declared;
  /** Schema of a body that the handler checks itself. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The call is about all worlds: it takes no `?world=`. */
  readonly isForAll?: true;
  /** Needs neither a token nor a loopback name. */
  readonly isOpen?: true;
  readonly handle: Handle<Readonly<Record<string, unknown>>>;
}

/** Declares a route: `GET /clock`. The fields of the body give the handler its types. */
export function route<const Declared extends Fields>(
  name: `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`,
  summary: string,
  details: Omit<Route<Declared>, 'method' | 'path' | 'summary' | 'handle'>,
  handle: Handle<ValuesOf<Declared>>,
): Route {
  const [method = '', path = ''] = name.split(' ');
  return { method, path, summary, ...details, handle: handle as Route['handle'] };
}

/** An answer of the admin API with a body; without a type, it has none. */
export function answerOf(status: number, type = '', body = '', headers: HttpResponse['headers'] = {}) {
  const content = type !== '' && { 'Content-Type': type, 'Content-Length': `${Buffer.byteLength(body)}` };
  const common = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  return { status, headers: { ...common, ...content, ...headers }, body } satisfies Answer;
}

export const ok = (json: unknown, status = 200) => answerOf(status, 'application/json', JSON.stringify(json));

/**
 * The body as an object with the declared fields and no others.
 *
 * @throws Refusal, 400 with the first field that is wrong
 */
export function checkFields(declared: Fields, body: unknown): Readonly<Record<string, unknown>> {
  const values = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof values !== 'object' || Array.isArray(values))
    throw wrongAt('', 'the body must be a JSON object');
  const unknown = Object.keys(values).find((name) => !Object.hasOwn(declared, name));
  if (unknown !== undefined)
    throw wrongAt(unknown, `is unknown here; known are ${Object.keys(declared).join(', ') || 'none'}`);
  for (const [name, field] of Object.entries(declared)) checkField(name, field, values[name]);
  return values;
}

/** A list of types is left to the handler. */
function checkField(name: string, { type, minimum, required, description }: Field, value: unknown): void {
  if (value === undefined && required) throw wrongAt(name, `is missing: ${description ?? ''}`);
  if (value === undefined) return;
  // The value may be a key: the message leaves it out.
  if (type === 'string' && typeof value !== 'string') throw wrongAt(name, 'must be a string');
  if (type !== 'number' && type !== 'integer') return;
  const isRight = type === 'number' ? Number.isFinite(value) : Number.isSafeInteger(value);
  if (isRight && Number(value) >= (minimum ?? -Infinity)) return;
  const kind = type === 'number' ? 'a number' : 'a whole number';
  const least = minimum === undefined ? '' : ` from ${minimum} on`;
  throw wrongAt(name, `must be ${kind}${least}, not ${JSON.stringify(value).slice(0, 80)}`);
}

/** A whole number of the query from 0 on. */
export function countIn(query: URLSearchParams, name: string, otherwise: number): number {
  const text = query.get(name) ?? `${otherwise}`;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw wrongAt(name, `must be a whole number from 0 on, not ${JSON.stringify(text).slice(0, 80)}`);
}
