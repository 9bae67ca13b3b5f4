import type { Command, Flag } from '../commands/command.ts';
import type { Environment } from '../../schemas/fixture-keys.ts';
import { Problem } from '../../schemas/problem.ts';
import { fileValue } from './file-value.ts';
import { kindOf, type Given } from './kinds.ts';
import type { Origin, Origins } from './origin.ts';
import type { Config } from './read.ts';
import { isServiceLink, variableOf } from './variable.ts';

/** What a command is called with. */
export interface Settled {
  /** By the names of flags and arguments in camel case; undefined for what nobody said. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Of what was not typed, and is no default. */
  readonly origins: Origins;
}

/** What was typed, by the names of flags and arguments; undefined for what was not. */
export type Typed = Readonly<Record<string, unknown>>;

/**
 * What holds of each flag and argument: what was typed, else its variable, else the config file,
 * else its default. Lists are not joined.
 *
 * @throws Problem with code `usage` for a variable whose value is none
 */
export function settle(
  { positionals, flags, configured }: Pick<Command, 'positionals' | 'flags' | 'configured'>,
  typed: Typed,
  env: Environment,
  config?: Config,
): Settled {
  const all = Object.entries({ ...positionals, ...flags });
  const setAside = new Set(
    all.flatMap(([name, { setsAside = [] }]) => (typed[name] === undefined ? [] : setsAside)),
  );
  const isSought = (name: string) =>
    configured !== undefined && configured.only?.includes(name) !== false && !setAside.has(name);
  const origins = new Map<string, Origin>();
  const configuredValue = (name: string, flag: Flag): Given | undefined => {
    const found =
      fromVariable(name, flag, env, Object.hasOwn(positionals, name)) ??
      fromFile(name, flag, env, configured!.by, config);
    if (found !== undefined) origins.set(name, found.origin);
    return found?.given;
  };
  const values = all.map(([name, flag]) => [
    camel(name),
    typed[name] ?? (isSought(name) ? configuredValue(name, flag) : undefined) ?? flag.default,
  ]);
  return { values: Object.fromEntries(values), origins };
}

const camel = (name: string) => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

interface Found {
  readonly given: Given;
  readonly origin: Origin;
}

const textsOf = (given: Given) => [given].flat().map(String);

/** A variable that is empty says nothing; but of an argument it would change what is done. */
function fromVariable(name: string, flag: Flag, env: Environment, isArgument: boolean): Found | undefined {
  const variable = variableOf(name);
  const text = env[variable];
  if (text === '' && isArgument)
    throw new Problem('usage', `${variable} is empty: give it a value, or unset it`);
  if (text === undefined || text === '' || (flag.isNumber === true && isServiceLink(text))) return undefined;
  if (flag.configurable === 'never')
    throw new Problem('usage', `${variable}: --${name} is of one run: type it, and unset the variable`);
  const given = kindOf(flag).ofVariable(text, flag);
  if (given === undefined)
    throw new Problem('usage', `${variable}=${text}: needs ${kindOf(flag).needs(flag)}`);
  return { given, origin: { kind: 'variable', variable, texts: textsOf(given) } };
}

function fromFile(
  name: string,
  flag: Flag,
  env: Environment,
  section: string,
  config: Config | undefined,
): Found | undefined {
  const value = config?.contents[section]?.[name];
  if (config === undefined || value === undefined) return undefined;
  const { file } = config;
  const pointer = `/${section}/${name}`;
  const given = fileValue(flag, value, { file, pointer, env });
  return {
    given,
    origin: { kind: 'file', file, pointer, isList: flag.array === true, texts: textsOf(given) },
  };
}
