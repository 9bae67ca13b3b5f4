import fs from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { printable } from '../reports/text.ts';
import { variableReference, type Environment } from '../schemas/fixture-keys.ts';
import { didYouMean, wrongUsage } from '../schemas/problem.ts';
import type { CliContext } from './cli-context.ts';
import type { Command, Flag, Flags } from './commands/command.ts';
import { readText, shownName, type Input } from './input-files.ts';
import { parseJson } from '../schemas/json.ts';

/** The flags and arguments of each command that has a section in the config file. */
export type Sections = Readonly<Record<string, Flags>>;

/** Called only if a config file or a variable is to be checked. */
type LoadSections = () => Sections | Promise<Sections>;

/** Values by the names of flags and arguments, before `coerce`. */
type Given = Readonly<Record<string, unknown>>;

/** Adds values of `IB_CONFORMANCE_…` variables and the config file to the typed values. Prints their sources on stderr. */
export async function configure(
  { positionals, flags, configured }: Command,
  typed: Given,
  context: CliContext,
  sections: LoadSections,
): Promise<Given> {
  if (configured === undefined) return typed;
  const { env, configFile, writeError } = context;
  const given: Record<string, unknown> = { ...typed };
  const all = Object.entries({ ...positionals, ...flags });
  const ignored = new Set(all.flatMap(([name, flag]) => (typed[name] !== undefined && flag.overrides) || []));
  const wanted = all.filter(
    ([name]) => typed[name] === undefined && !ignored.has(name) && configured.only?.includes(name) !== false,
  );
  const named = (typed['config'] ?? env[variableOf('config')]) || undefined;
  const file = (named as string | undefined) ?? configFile ?? '';
  const section = (await readConfig(file, named === undefined, sections, context))[configured.section] ?? {};
  const namesOf = new Map<string, readonly string[]>();
  for (const [name, flag] of wanted) {
    const ofVariable = fromVariable(name, flag, env, name in positionals);
    const value = ofVariable ?? fromFile(section[name], flag, file, env);
    if (value === undefined) continue;
    given[name] = value;
    const source = ofVariable === undefined ? shownName(file) : variableOf(name);
    namesOf.set(source, [...(namesOf.get(source) ?? []), name]);
  }
  const notes = [...namesOf].map(([source, names]) => `${names.join(', ')} from ${source}`);
  if (notes.length > 0) writeError(`config: ${notes.join('; ')}\n`);
  for (const hint of await unusedHints(env, sections)) writeError(`config: ${hint}\n`);
  return given;
}

/** Not only `IB_`: a partner has variables such as IB_HOST of its own. */
const PREFIX = 'IB_CONFORMANCE_';
const variableOf = (name: string) => `${PREFIX}${name.toUpperCase().replaceAll('-', '_')}`;

/** For a service named `ib-conformance`, Kubernetes sets IB_CONFORMANCE_PORT to an address in every container. */
const isServiceAddress = (text = '') => /^(?:tcp|udp|sctp):\/\//.test(text);
const booleans: Given = { __proto__: null, true: true, 1: true, false: false, 0: false };

function fromVariable(name: string, flag: Flag, env: Environment, isArgument: boolean): unknown {
  const variable = variableOf(name);
  const text = env[variable] ?? '';
  // If an empty IB_CONFORMANCE_URL counted as unset, verify would verify the mock.
  if (env[variable] === '' && isArgument)
    throw wrongUsage(`${variable} is empty: give it a value, or unset it`);
  if (text === '' || (flag.isNumber === true && isServiceAddress(text))) return undefined;
  if (flag.configurable === 'never')
    throw wrongUsage(`${variable}: --${name} works only on the command line; unset the variable`);
  if (flag.array === true) {
    const parts = text.split(flag.isHeader === true ? '\n' : /[\n,]/).map((part) => part.trim());
    return parts.filter((part) => part !== '');
  }
  const value = flag.type === 'boolean' ? booleans[text] : text;
  if (value === undefined || flag.choices?.includes(text) === false)
    throw wrongUsage(`${variable}=${text}: needs ${(flag.choices ?? ['true', 'false']).join(' or ')}`);
  return value;
}

/** Returns hints for unused variables with our prefix that look like a misspelled flag. */
async function unusedHints(env: Environment, sections: LoadSections): Promise<readonly string[]> {
  const ours = Object.keys(env).filter((name) => name.startsWith(PREFIX) && !isServiceAddress(env[name]));
  if (ours.length === 0) return [];
  const known = Object.values(await sections()).flatMap((section) => Object.keys(section).map(variableOf));
  // The common prefix would make all names similar.
  const flags = known.map((name) => name.slice(PREFIX.length));
  return ours
    .filter((name) => !known.includes(name))
    .map((name) => [name, didYouMean(name.slice(PREFIX.length), flags)] as const)
    .filter(([, hint]) => hint !== '')
    .map(([name, hint]) => `${name} is not used${hint.replace('did you mean ', `$&${PREFIX}`)}`);
}

async function readConfig(file: string, mayBeMissing: boolean, sections: LoadSections, input: Input) {
  if (mayBeMissing && !fs.existsSync(file)) return {};
  const text = await readText(file, input, { what: `--config ${file}` });
  const where = shownName(file);
  const config = parseJson(text, where, 'usage');
  const problems = problemsOf(config, await sections());
  if (problems.length > 0) throw wrongUsage(problems.map((problem) => `${where}: ${problem}`).join('\n'));
  return config as Readonly<Record<string, Given>>;
}

const isObject = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the problems of a config file, each with its place. */
export function problemsOf(config: unknown, sections: Sections): readonly string[] {
  if (!isObject(config)) return ['/: needs an object'];
  const hint = (key: string, known: object) => `unknown key${didYouMean(key, Object.keys(known))}`;
  return Object.entries(config).flatMap(([command, section]) => {
    const place = `/${printable(command, 80)}`;
    if (command === '$schema' && typeof section === 'string') return [];
    if (!Object.hasOwn(sections, command)) return `${place}: ${hint(command, sections)}`;
    if (!isObject(section)) return `${place}: needs an object`;
    const flags = sections[command]!;
    return Object.entries(section).flatMap(([name, value]) => {
      const problem = Object.hasOwn(flags, name) ? problemOf(value, flags[name]!) : hint(name, flags);
      return problem === undefined ? [] : `${place}/${printable(name, 80)}: ${problem}`;
    });
  });
}

/** Not empty, and without control characters, which would affect the terminal. */
export const TEXT_PATTERN = String.raw`^\P{Cc}+$`;
const isText = (value: unknown) => typeof value === 'string' && new RegExp(TEXT_PATTERN, 'u').test(value);

function problemOf(value: unknown, { array, type, choices, isNumber, configurable }: Flag) {
  const unless = (isRight: boolean, needed: string) => (isRight ? undefined : `needs ${needed}`);
  if (configurable !== undefined) return 'cannot be in a config file';
  if (array === true) return unless(Array.isArray(value) && value.every(isText), 'a list of strings');
  if (type === 'boolean') return unless(typeof value === 'boolean', 'true or false');
  if (choices !== undefined) return unless(choices.includes(value as string), choices.join(' or '));
  if (isNumber === true) return unless(typeof value === 'number', 'a number, without quotes');
  return unless(isText(value), 'a string without control characters');
}

const pathIn = { file: /^.+/s, 'format=file': /(?<=^[^=]*=).+/s } as const;

/** Converts a value of the config file to typed text. Resolves relative paths from the folder of the file. */
function fromFile(value: unknown, flag: Flag, file: string, env: Environment): unknown {
  if (value === undefined || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((one) => fromFile(one, flag, file, env));
  const text = `${value as string | number}`;
  if (flag.path !== undefined)
    return text.replace(pathIn[flag.path], (path) =>
      isAbsolute(path) || path === '-' ? path : join(dirname(file), path),
    );
  if (flag.isHeader !== true) return text;
  return text.replace(variableReference, (_, name: string) => {
    if (env[name]) return env[name];
    throw wrongUsage(`${file}: --header needs the environment variable ${name}, which is not set`);
  });
}
