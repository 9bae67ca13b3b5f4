import type { StreamedResponse } from '../exchange.ts';
import { wrongAt, type Session } from '../session.ts';

/** A field of a JSON body. A `description` says what a required field is for. */
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
  /** Name of the world that it is about; the empty text is the main one. */
  readonly world: string;
  /** What stands in the place of `{id}` in the path. */
  readonly id: string;
  readonly query: URLSearchParams;
  /** The Accept field; empty where there is none. */
  readonly accept: string;
  /** The JSON of the body; undefined where there is none. */
  readonly body: unknown;
  /** The declared fields of the body, checked. */
  readonly fields: Values;
}

/** JSON, a page, another text, or a stream. */
export type AdminAnswer =
  | { readonly status: number; readonly json?: unknown }
  | { readonly status: number; readonly html: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly status: number; readonly type: string; readonly text: string }
  | StreamedResponse;

interface RouteBase {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below `/__admin`; `{id}` stands for one segment. */
  readonly path: string;
  readonly summary: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Schema of a body that the handler checks itself. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** It is about all worlds, not about one. */
  readonly isForAll?: true;
  /** Whoever reaches the port may call it: it tells nothing. */
  readonly isOpen?: true;
}

/** A route of the admin API: what serves it, and what its description says. */
export interface Route extends RouteBase {
  /** The only fields that a body may have. */
  readonly fields?: Fields;
  readonly handle: (session: Session, request: AdminRequest) => AdminAnswer | Promise<AdminAnswer>;
}

/** A route with the fields of its body; they give the handler its types. */
export const routeWithFields = <const Declared extends Fields>(
  route: RouteBase & {
    readonly fields: Declared;
    readonly handle: (session: Session, request: AdminRequest<ValuesOf<Declared>>) => AdminAnswer;
  },
): Route => route as unknown as Route;

export const ok = (json: unknown): AdminAnswer => ({ status: 200, json });

/**
 * The body as an object with the declared fields and no others.
 *
 * @throws Refusal, 400 with the first field that is wrong
 */
export function checkFields(declared: Fields, body: unknown): Readonly<Record<string, unknown>> {
  const values = body ?? {};
  if (typeof values !== 'object' || Array.isArray(values))
    throw wrongAt('', 'the body has to be a JSON object');
  const names = Object.keys(declared);
  const unknown = Object.keys(values).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw wrongAt(unknown, `is unknown here; known are ${names.join(', ') || 'none'}`);
  for (const [name, field] of Object.entries(declared))
    checkField(name, field, (values as Readonly<Record<string, unknown>>)[name]);
  return values as Readonly<Record<string, unknown>>;
}

/** A list of types is left to the handler. */
function checkField(
  name: string,
  { type, minimum = -Infinity, required, description }: Field,
  value: unknown,
) {
  if (value === undefined) {
    if (required) throw wrongAt(name, `is missing: ${description ?? ''}`);
  } else if (type === 'string') {
    // It may be a key: it is not repeated.
    if (typeof value !== 'string') throw wrongAt(name, 'has to be a text');
  } else if (type === 'number' || type === 'integer') {
    const least = minimum === -Infinity ? '' : ` from ${minimum} on`;
    if (typeof value !== 'number' || !Number.isFinite(value) || value < minimum)
      throw wrongAt(name, `has to be a number${least}, not ${shown(value)}`);
    if (type === 'integer' && !Number.isSafeInteger(value))
      throw wrongAt(name, `has to be a whole number, not ${value}`);
  }
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
