import type { CliContext } from '../cli-context.ts';

/** A flag, or a positional argument, as it is told to the command line. */
export interface Flag {
  readonly type: 'string' | 'boolean';
  readonly describe: string;
  readonly array?: true;
  readonly requiresArg?: true;
  readonly demandOption?: true;
  /** Whether `--help` leaves it out, and `--help --all` does not. */
  readonly isRare?: true;
  /** Whether no message may repeat its value. */
  readonly isSecret?: true;
  /** Whether its value is a number. */
  readonly isNumber?: true;
  /** What of its value names a file: in a config file, that starts from the folder of it. */
  readonly names?: 'file' | 'format=file';
  /** Whether its values are header fields: they may hold commas and, in a config file, `${NAME}`. */
  readonly isHeader?: true;
  /** Where its value may come from besides the command line, where not from a variable or a config file. */
  readonly configurable?: 'by variable' | 'never';
  /** Names of flags that it sets aside where they are configured, and not typed with it. */
  readonly setsAside?: readonly string[];
  readonly choices?: readonly string[];
  /** What it may hold where it is not checked as `choices` are: words, or the name of what has them. */
  readonly holds?: readonly string[] | Vocabulary;
  readonly default?: string | boolean | readonly string[];
}

/** Words that a value may be, in registries that are not loaded for the help. */
export type Vocabulary = 'suites' | 'requirements' | 'faults' | 'variants';

/** A command of the command line, as a value. */
export interface Command {
  /** Its name, and its positional arguments: `verify [url]`. */
  readonly usage: string;
  /** What it does, in a few words. */
  readonly what: string;
  readonly positionals: Readonly<Record<string, Flag>>;
  readonly flags: Readonly<Record<string, Flag>>;
  /** Command lines, and what they do; `$0` stands for the program. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  /** What says the values that were not typed; without it, nothing does. */
  readonly configured?: Configured;
  /** Loads what it needs when it is called; returns the exit code. */
  readonly run: (values: never, context: CliContext) => Promise<number>;
}

/** Where a command finds what was not typed: in `IB_…` variables, and in an object of the config file. */
export interface Configured {
  /** Name of the object: that of the command, or of another one with the same flags. */
  readonly by: string;
  /** Names of the flags and arguments that are looked for; all where it is not given. */
  readonly only?: readonly string[];
}

/** Commands under one name: `fixture check`, `fixture generate`. */
export interface Family {
  readonly usage: string;
  readonly what: string;
  readonly commands: readonly Command[];
}

/** What was typed, by the names of the flags in camel case. */
type Values<Flags extends FlagTable> = {
  readonly [Name in keyof Flags & string as Camel<Name>]: Value<Flags[Name]>;
};

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

type Value<One extends Flag> = One extends { readonly array: true }
  ? readonly string[]
  : One extends { readonly type: 'boolean' }
    ? boolean
    : One extends { readonly default: string } | { readonly demandOption: true }
      ? Choice<One>
      : Choice<One> | undefined;

type Choice<One extends Flag> = One extends { readonly choices: readonly (infer Text)[] } ? Text : string;

type FlagTable = Readonly<Record<string, Flag>>;

/** Makes a command, and sees that it takes what its flags give. */
export function command<const Given extends FlagTable = {}, const Placed extends FlagTable = {}>(spec: {
  readonly usage: string;
  readonly what: string;
  readonly positionals?: Placed;
  readonly flags?: Given;
  readonly examples?: Command['examples'];
  readonly configured?: Configured;
  readonly run: (values: Values<Given> & Values<Placed>, context: CliContext) => Promise<number>;
}): Command {
  return { positionals: {}, flags: {}, examples: [], ...spec };
}

/** What help says of a flag; a config file has a list in the place of its repetition. */
export const helpOf = ({ describe, array }: Flag) => (array === true ? `${describe}; repeatable` : describe);

/** A flag that takes one value. */
export const text = { type: 'string', requiresArg: true } as const;

/** A flag that takes a number. */
export const number = { ...text, isNumber: true } as const;

/** A flag that takes the name of a file. */
export const file = { ...text, names: 'file' } as const;

/** A flag that may be repeated. */
export const list = { type: 'string', array: true, default: [], requiresArg: true } as const;

/** A flag that may be repeated, of `format` or `format=file`. */
export const outputs = { ...list, names: 'format=file' } as const;

/** A flag that is there or not. */
export const onOff = { type: 'boolean', default: false } as const;
