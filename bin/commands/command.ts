import type { CliContext } from '../cli-context.ts';

/** A flag or a positional argument. */
export interface Flag {
  readonly type: 'string' | 'boolean';
  readonly describe: string;
  readonly array?: true;
  readonly requiresArg?: true;
  readonly demandOption?: true;
  readonly choices?: readonly string[];
  /** The default as typed text; `coerce` converts it, too. */
  readonly default?: string | boolean | readonly string[];
  /** Converts the value. @throws Problem with code `usage` that begins with the flag: `--cases 0: needs …` */
  readonly coerce?: (given: never, name: string) => unknown;
  /** No message may show its value. */
  readonly isSecret?: true;
  /** It is a JSON number in a config file, or may be one. */
  readonly isNumber?: true | 'or text';
  /** Which part of its value is a path. Relative paths in a config file start from the file's folder. */
  readonly path?: 'file' | 'format=file';
  /** Its values are header fields. They may contain commas and, in a config file, `${NAME}`. */
  readonly isHeader?: true;
  /** Set if `IB_CONFORMANCE_…` variables and config files cannot both set the flag. */
  readonly configurable?: 'by variable' | 'never';
  /** Flags whose configured values are ignored if this flag is typed. */
  readonly overrides?: readonly string[];
  /** Why a command that repeats a run leaves the flag out. Without it, the flag is repeated as it was given. */
  readonly notRepeated?: string;
}

export type Flags = Readonly<Record<string, Flag>>;

/**
 * Texts and booleans by the names of flags and arguments, before `coerce`; undefined if not given.
 * `ofFile` lists the names of those that the config file gave.
 */
export type Given = Readonly<Record<string, unknown>>;

export interface Command {
  /** Name and positional arguments: `verify [url]`. */
  readonly usage: string;
  readonly what: string;
  readonly positionals: Flags;
  readonly flags: Flags;
  /** Flags by their title in the help, if there are many. */
  readonly groups?: Readonly<Record<string, Flags>> | undefined;
  /** The guide, in the folder `docs` of the package. */
  readonly guide: string;
  /** `$0` is the name of the program. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  /** If undefined, the command reads neither `IB_CONFORMANCE_…` variables nor a config file. */
  readonly configured?: Configured;
  readonly run: (values: never, context: CliContext, given: Given) => Promise<number>;
}

export interface Configured {
  readonly section: string;
  /** Flags and arguments to read; all by default. */
  readonly only?: readonly string[];
}

/** The values of flags, by their names in camel case. */
export type Values<Table extends Flags> = {
  readonly [Name in keyof Table & string as Camel<Name>]:
    Value<Table[Name]> | (HasValue<Table[Name]> extends true ? never : undefined);
};

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

type HasValue<One extends Flag> = One extends { readonly default: unknown } | { readonly demandOption: true }
  ? true
  : false;

type Value<One extends Flag> = One extends { readonly coerce: (...given: never) => infer Result }
  ? Result
  : One extends { readonly array: true }
    ? readonly string[]
    : One extends { readonly type: 'boolean' }
      ? boolean
      : One extends { readonly choices: readonly (infer Choice)[] }
        ? Choice
        : string;

/** Declares a command. The declarations of flags and arguments give the type of the `values` of `run`. */
export function command<const Own extends Flags = {}, const Placed extends Flags = {}>(spec: {
  readonly usage: string;
  readonly what: string;
  readonly positionals?: Placed;
  readonly flags?: Own;
  readonly groups?: Command['groups'];
  readonly guide: string;
  readonly examples?: Command['examples'];
  readonly configured?: Configured;
  readonly run: (values: Values<Own> & Values<Placed>, context: CliContext, given: Given) => Promise<number>;
}): Command {
  return { positionals: {}, flags: {}, examples: [], ...spec };
}

export const nameOf = ({ usage }: { readonly usage: string }) => usage.replace(/ .*/, '');

/** Returns the description in help texts. A config file has a list instead of repeated flags. */
export const helpOf = ({ describe, array }: Flag) => (array === true ? `${describe}; repeatable` : describe);
