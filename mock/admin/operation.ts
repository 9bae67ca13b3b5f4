import type { Answer, HttpResponse } from '../exchange.ts';
import type { ControlledMock, Controls } from '../controls.ts';
import type { Fields, ValuesOf } from '../controls/inputs.ts';
import { badRequest, type Session } from '../session.ts';

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** A checked admin call. */
export interface AdminRequest<Values = Readonly<Record<string, unknown>>> {
  readonly session: Session;
  readonly mock: ControlledMock;
  /** Name of the world; empty for the main world. */
  readonly world: string;
  /** The part of the path that matches `{id}`. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly accept: string;
  /** The parsed body; undefined if there is none. The handler checks it. */
  readonly body: never;
  readonly fields: Values;
}

/** Input and result of a call. */
interface Details<Declared extends Fields = Fields> {
  readonly query?: Readonly<Record<string, string>>;
  /** The allowed fields of the body. */
  readonly fields?: Declared;
  /** Schema of a body that the handler checks itself. */
  readonly body?: Schema;
  /** Name of the schema of the result. */
  readonly gives?: string;
  /** Default: 200. */
  readonly status?: number;
  /** The call applies to all worlds and has no `?world=`. */
  readonly isGlobal?: true;
  /** Needs neither a token nor a loopback name. */
  readonly isPublic?: true;
}

type Run<Values, Result> = (controls: Controls, request: AdminRequest<Values>) => Result | Promise<Result>;

/** A call of the admin API. The OpenAPI document is derived from it. */
export interface Operation extends Details {
  readonly run: Run<Readonly<Record<string, unknown>>, Answer>;
}

/** An operation with its method and path. */
export interface Route extends Operation {
  readonly method: string;
  /** Below `/__admin`; `{id}` stands for one segment. */
  readonly path: string;
  readonly summary: string;
}

/** Declares an operation that returns JSON, or 204 for undefined. `fields` gives `run` its types. */
export const json = <const Declared extends Fields>(
  details: Details<Declared>,
  run: Run<ValuesOf<Declared>, unknown>,
): Operation =>
  operation(details, async (controls, request) => {
    const isUnused = details.isGlobal !== true && !controls.isUsed();
    const result = await run(controls, request as AdminRequest<ValuesOf<Declared>>);
    if (result === undefined) return adminAnswer(204);
    // A mistyped world would make every check true that no request came.
    const isStill = isUnused && !controls.isUsed() && typeof result === 'object';
    const shown = isStill ? { ...result, unused: true } : result;
    return adminAnswer(details.status ?? 200, 'application/json', JSON.stringify(shown));
  });

/** Declares an operation with another format. */
export const operation = (details: Details, run: Operation['run']): Operation => ({ ...details, run });

/** Creates an answer of the admin API; without a type, it has no body. */
export function adminAnswer(status: number, type = '', body = '', headers: HttpResponse['headers'] = {}) {
  const content = type !== '' && { 'Content-Type': type, 'Content-Length': `${Buffer.byteLength(body)}` };
  const common = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' };
  return { status, headers: { ...common, ...content, ...headers }, body } satisfies Answer;
}

/** Reads a whole number of at least 0 from the query. */
export function countParameter(query: URLSearchParams, name: string, defaultValue: number): number {
  const text = query.get(name) ?? `${defaultValue}`;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw badRequest(name, `must be a whole number of at least 0, not ${JSON.stringify(text).slice(0, 80)}`);
}
