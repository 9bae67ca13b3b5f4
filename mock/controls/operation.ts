import type { Answer } from '../exchange.ts';
import { badRequest, type WorldHandle } from '../session.ts';
import { checkFields, type Field, type Fields, type Schema, type ValuesOf } from './fields.ts';

/** A body that the operation itself checks. */
export interface BySchema<Value> {
  readonly schema: Schema;
  /** Only a type. */
  readonly value?: Value;
}

/** Declares a body that the operation itself checks, by its schema or by the name of a schema. */
export const bySchema = <Value>(schema: Schema | string): BySchema<Value> => ({
  schema: typeof schema === 'string' ? { $ref: `#/components/schemas/${schema}` } : schema,
});

type Body = Fields | BySchema<unknown>;
type InputOf<Declared> =
  Declared extends BySchema<infer Value> ? Value : Declared extends Fields ? ValuesOf<Declared> : unknown;

/** An operation of the mock. Router, checks, OpenAPI, reference and JavaScript methods are derived from it. */
export interface Operation {
  /** Method and path below `/__admin`; `{id}` stands for one segment. */
  readonly call: string;
  readonly summary: string;
  /** In the path, or else in the query. */
  readonly parameters?: Fields;
  readonly body?: Body;
  /** A body for the reference. */
  readonly example?: unknown;
  /** Name of the schema of the result. */
  readonly result?: string;
  /** Default: 200. */
  readonly status?: number;
  /** Applies to all worlds and has no `?world=`. */
  readonly isGlobal?: true;
  /** Needs neither a token nor a loopback name. */
  readonly isPublic?: true;
  /** Converts the arguments of the JavaScript method to a body and parameters. Default: it takes none. */
  readonly args?: (...args: readonly unknown[]) => readonly [body?: unknown, parameters?: object];
  readonly run: (handle: WorldHandle, input: unknown) => unknown;
  /** What the JavaScript method returns of the result. Default: all. */
  readonly gives?: (result: unknown) => unknown;
  /** Answers over HTTP. Default: the result as JSON. */
  readonly respond?: (result: unknown) => Answer;
}

/** An operation with the types of its call, its result and its JavaScript method. */
export interface Typed<Call extends string, Result, Method> extends Operation {
  readonly call: Call;
  /** Only types. */
  readonly types?: { readonly result: Result; readonly method: Method };
}

/** The part of an operation that has types of its own. */
interface TypedDetails<Parameters, Given, Args extends readonly unknown[], Result, Value> {
  readonly parameters?: Parameters;
  readonly body?: Given;
  readonly args?: (
    ...args: Args
  ) => readonly [body?: InputOf<Given> | undefined, parameters?: InputOf<Parameters>];
  readonly run: (handle: WorldHandle, input: InputOf<Given> & InputOf<Parameters>) => Result;
  readonly gives?: (result: Result) => Value;
  readonly respond?: (result: Awaited<Result>) => Answer;
}

// oxlint-disable-next-line typescript/no-generated-empty-object-type -- fields, of which there are none
type None = Readonly<Record<never, Field>>;

/** Declares an operation. */
export const operation = <
  const Call extends string,
  Result,
  const Parameters extends Fields = None,
  const Given extends Body = None,
  Args extends readonly unknown[] = [],
  Value = Result,
>(
  call: Call,
  summary: string,
  details: Omit<Operation, keyof TypedDetails<never, never, never, never, never> | 'call' | 'summary'> &
    TypedDetails<Parameters, Given, Args, Result, Value>,
) => ({ call, summary, ...details }) as unknown as Typed<Call, Result, (...args: Args) => Value>;

export const isBySchema = (body: Body): body is BySchema<unknown> => Object.hasOwn(body, 'schema');

/**
 * Runs an operation in a world. HTTP and JavaScript both call it, so they refuse the same input with the same words.
 *
 * @throws Refusal with 400 and the first wrong field, or what the operation throws
 */
export function perform(
  one: Operation,
  handle: WorldHandle,
  body?: unknown,
  parameters: object = {},
): unknown {
  if (one.parameters !== undefined) checkFields(one.parameters, parameters);
  if (one.body === undefined) return one.run(handle, parameters);
  if (isBySchema(one.body)) return one.run(handle, body);
  if (typeof (body ?? {}) !== 'object' || Array.isArray(body))
    throw badRequest('', 'the body must be a JSON object');
  return one.run(handle, { ...checkFields(one.body, body ?? {}), ...parameters });
}

/** Operations by name, in groups: `deposits.execute`. */
interface Operations {
  readonly [name: string]: Operation | Operations;
}

const isOperation = (entry: Operation | Operations): entry is Operation => typeof entry.run === 'function';

/** The JavaScript methods of operations. */
export type Methods<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Typed<string, unknown, infer Method>
    ? Method
    : Methods<Table[Name]>;
};

/** Derives the JavaScript methods of operations in a world. */
export function methodsOf<Table extends object>(table: Table, handle: WorldHandle): Methods<Table> {
  const methods = Object.entries(table as Operations).map(([name, entry]) => {
    if (!isOperation(entry)) return [name, methodsOf(entry, handle)];
    const method = (...args: readonly unknown[]) => {
      const result = perform(entry, handle, ...(entry.args?.(...args) ?? []));
      return entry.gives === undefined ? result : entry.gives(result);
    };
    return [name, method];
  });
  return Object.fromEntries(methods) as Methods<Table>;
}

/** An operation with its full name, method and path. */
export interface Route extends Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
}

/** Lists the operations of a table. */
export function routesOf(table: object, group = ''): readonly Route[] {
  return Object.entries(table as Operations).flatMap(([key, entry]) => {
    const name = group + key;
    if (!isOperation(entry)) return routesOf(entry, `${name}.`);
    const [method = '', path = ''] = entry.call.split(' ');
    return { ...entry, name, method, path };
  });
}

type AnyTyped = Typed<string, unknown, unknown>;
/** The operations of a table and its groups, as a union. */
type RowsOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends AnyTyped ? Table[Name] : Table[Name][keyof Table[Name]];
}[keyof Table];

/** The results of operations by call: `ResultsOf<…>['GET /clock']`. */
export type ResultsOf<Table> = {
  readonly [Row in Extract<RowsOf<Table>, AnyTyped> as Row['call']]: Row extends Typed<
    string,
    infer Result,
    unknown
  >
    ? Awaited<Result>
    : never;
};
