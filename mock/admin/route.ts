import type { Answer, HttpResponse } from '../exchange.ts';
import type { ControlledMock, Controls } from '../controls.ts';
import { wrongAt, type Session } from '../session.ts';

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

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
  readonly session: Session;
  readonly mock: ControlledMock;
  /** Name of the world that the call is about; the empty text is the main one. */
  readonly world: string;
  /** The part of the path that matches `{id}`. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  /** The JSON of the body; undefined if there is none. Whatever takes it checks it. */
  readonly body: never;
  readonly fields: Values;
}

/** What a call takes and gives. */
interface Details<Declared extends Fields = Fields> {
  readonly query?: Readonly<Record<string, string>>;
  /** The only fields that a body may have. */
  readonly fields?: Declared;
  /** Schema of a body that the handler checks itself. */
  readonly body?: Schema;
  /** Name of the schema of the answer. */
  readonly gives?: string;
  /** 200 where it is missing. */
  readonly status?: number;
  /** The call is about all worlds: it takes no `?world=`. */
  readonly isForAll?: true;
  /** Needs neither a token nor a loopback name. */
  readonly isOpen?: true;
}

type Run<Values, Result> = (controls: Controls, request: AdminRequest<Values>) => Result | Promise<Result>;

/** What the admin API does for one method and path. Its OpenAPI description is derived from it. */
export interface Operation extends Details {
  readonly run: Run<Readonly<Record<string, unknown>>, Answer>;
}

/** An operation at its place. */
export interface Route extends Operation {
  readonly method: string;
  /** Below `/__admin`; `{id}` stands for one segment. */
  readonly path: string;
  readonly summary: string;
}

/** An operation that answers with JSON, or with 204. The fields of the body give the function its types. */
export const json = <const Declared extends Fields>(
  details: Details<Declared>,
  run: Run<ValuesOf<Declared>, unknown>,
): Operation =>
  other(details, async (controls, request) => {
    const result = await run(controls, request as AdminRequest<ValuesOf<Declared>>);
    if (result === undefined) return answerOf(204);
    return answerOf(details.status ?? 200, 'application/json', JSON.stringify(result));
  });

/** An operation that answers in another format. */
export const other = (details: Details, run: Operation['run']): Operation => ({ ...details, run });

/** An answer of the admin API with a body; without a type, it has none. */
export function answerOf(status: number, type = '', body = '', headers: HttpResponse['headers'] = {}) {
  const content = type !== '' && { 'Content-Type': type, 'Content-Length': `${Buffer.byteLength(body)}` };
  const common = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  return { status, headers: { ...common, ...content, ...headers }, body } satisfies Answer;
}

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
