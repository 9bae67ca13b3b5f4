import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { printable } from '../reports/text.ts';
import { variableReference, type Environment } from '../schemas/fixture-keys.ts';
import { didYouMean, Problem } from '../schemas/problem.ts';
import type { CliContext } from './cli-context.ts';
import type { Command, Flag, Flags } from './commands/command.ts';
import { upwards } from './schema-reference.ts';

/** The config file that is read from the working directory. */
export const CONFIG_FILE = 'ib-conformance.config.json';

/** The flags and arguments of each command that has a section in the config file. */
export type Sections = Readonly<Record<string, Flags>>;

/** Values by the names of flags and arguments, before they are coerced. */
type Given = Readonly<Record<string, unknown>>;

const usage = (message: string) => new Problem('usage', message);

/**
 * Adds to what was typed what `IB_…` variables and the config file say, in this order, and says on
 * standard error what came from where.
 *
 * @param typed undefined for what was not typed
 * @returns the values, and the variable or file of each one that was not typed
 * @throws Problem with code `usage`
 */
export async function configure(
  { positionals, flags, configured }: Command,
  typed: Given,
  { env, configFile, writeError }: CliContext,
  sections: Sections,
): Promise<{ readonly given: Given; readonly sources: ReadonlyMap<string, string> }> {
  const sources = new Map<string, string>();
  if (configured === undefined) return { given: typed, sources };
  const given: Record<string, unknown> = { ...typed };
  const all = { ...positionals, ...flags };
  const isTyped = (name: string) => typed[name] !== undefined;
  const ignored = new Set(Object.keys(all).flatMap((name) => (isTyped(name) && all[name]!.setsAside) || []));
  const wanted = Object.entries(all).filter(
    ([name]) => !isTyped(name) && !ignored.has(name) && configured.only?.includes(name) !== false,
  );
  const add = (name: string, value: unknown, source: string) => {
    if (value === undefined || given[name] !== undefined) return;
    given[name] = value;
    sources.set(name, source);
  };
  for (const [name, flag] of wanted)
    add(name, ofVariable(name, flag, env, name in positionals), variableOf(name));
  const named = given['config'] as string | undefined;
  const file = named ?? configFile;
  if (file !== undefined) {
    const config = await readConfig(file, named !== undefined, sections);
    if (config === undefined) noteFileAbove(file, writeError);
    for (const [name, flag] of wanted)
      add(name, ofFile(config?.[configured.by]?.[name], flag, file, env), file);
  }
  const notes = [...new Set(sources.values())].map((source) => {
    const names = Object.keys(all).filter((name) => sources.get(name) === source);
    return `${names.join(', ')} from ${source}`;
  });
  if (notes.length > 0) writeError(`config: ${notes.join('; ')}\n`);
  for (const hint of await hintsOn(env, sections, given['fixture'])) writeError(`config: ${hint}\n`);
  return { given, sources };
}

const variableOf = (name: string) => `IB_${name.toUpperCase().replaceAll('-', '_')}`;

/** Kubernetes sets these in every container of a namespace with a service called `ib`. */
const serviceVariable = /^IB_(?:\w+_)?(?:SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT(?:_\d+_(?:TCP|UDP|SCTP)\w*)?)$/;
const serviceAddress = /^(?:tcp|udp|sctp):\/\/[^/]+:\d+$/;

const booleans: Readonly<Record<string, boolean>> = { true: true, 1: true, false: false, 0: false };

function ofVariable(name: string, flag: Flag, env: Environment, isArgument: boolean): unknown {
  const variable = variableOf(name);
  const text = env[variable];
  // With an empty IB_URL, verify would verify the mock.
  if (text === '' && isArgument) throw usage(`${variable} is empty: give it a value, or unset it`);
  if (text === undefined || text === '' || (flag.isNumber === true && serviceAddress.test(text)))
    return undefined;
  if (flag.configurable === 'never')
    throw usage(`${variable}: --${name} belongs to one run: type it, and unset the variable`);
  if (flag.array === true) {
    const parts = text.split(flag.isHeader === true ? '\n' : /[\n,]/).map((part) => part.trim());
    return parts.filter((part) => part !== '');
  }
  const value = flag.type === 'boolean' && Object.hasOwn(booleans, text) ? booleans[text] : text;
  if (flag.isNumber === true || fits(value, flag)) return value;
  throw usage(`${variable}=${text}: needs ${needs(flag)}`);
}

/** What was probably meant by variables that nothing reads, neither we nor the fixture. */
async function hintsOn(env: Environment, sections: Sections, fixture: unknown): Promise<readonly string[]> {
  const known = Object.values(sections).flatMap((section) => Object.keys(section).map(variableOf));
  const hints = Object.keys(env)
    .filter((name) => name.startsWith('IB_') && name.length > 'IB_KEY'.length && !known.includes(name))
    .filter((name) => !['IB_API_KEY', 'IB_BASE_URL'].includes(name) && !serviceVariable.test(name))
    .map((name) => [name, didYouMean(name, known)] as const)
    .filter(([, hint]) => hint !== '');
  if (hints.length === 0) return [];
  const text = typeof fixture === 'string' ? await readFile(fixture, 'utf8').catch(() => '') : '';
  const unused = hints.filter(([name]) => !text.includes(`\${${name}}`));
  return unused.map(([name, hint]) => `${name} is not used${hint}`);
}

type Config = Readonly<Record<string, Given>>;

async function readConfig(file: string, isNamed: boolean, sections: Sections): Promise<Config | undefined> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !isNamed) return undefined;
    const why = code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`;
    throw usage(`${isNamed ? '--config ' : ''}${file}: ${why}`);
  }
  const { parseJson } = await import('../schemas/json.ts');
  const config = parseJson(text.replace(/^\uFEFF/, ''), file, 'usage');
  const problems = problemsOf(config, sections);
  if (problems.length > 0) throw usage(problems.map((problem) => `${file}: ${problem}`).join('\n'));
  return config as Config;
}

/** In a subfolder of a project, verify would verify the mock. */
function noteFileAbove(file: string, writeError: CliContext['writeError']): void {
  const folder = dirname(resolve(file));
  const places = upwards(folder).map((above) => join(above, basename(file)));
  const found = places.find((place) => existsSync(place));
  if (found !== undefined)
    writeError(`config: ${relative(folder, found)} is not read from here; --config names one that is\n`);
}

const isObject = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is wrong with a config file, each with its place. */
export function problemsOf(config: unknown, sections: Sections): readonly string[] {
  if (!isObject(config)) return ['needs an object with the names of commands as keys'];
  return Object.entries(config).flatMap(([command, values]) => {
    const place = `/${printable(command, 80)}`;
    if (command === '$schema') return typeof values === 'string' ? [] : [`${place}: needs a text`];
    if (!Object.hasOwn(sections, command))
      return [`${place}: is not a section${didYouMean(command, Object.keys(sections))}`];
    if (!isObject(values)) return [`${place}: needs an object with flags as keys`];
    return Object.entries(values).flatMap(([name, value]) => {
      const problem = problemOf(name, value, sections[command]!);
      return problem === undefined ? [] : [`${place}/${printable(name, 80)}: ${problem}`];
    });
  });
}

function problemOf(name: string, value: unknown, section: Flags): string | undefined {
  if (!Object.hasOwn(section, name)) return `is not a flag${didYouMean(name, Object.keys(section))}`;
  const flag = section[name]!;
  const variable = flag.configurable === 'by variable' ? `, or set ${variableOf(name)}` : '';
  if (flag.configurable !== undefined) return `cannot be in a config file: type --${name}${variable}`;
  return fits(value, flag) ? undefined : `needs ${needs(flag)}`;
}

/** Not empty; a control character would act on the terminal that a message shows it on. */
export const TEXT_PATTERN = String.raw`^\P{Cc}+$`;
const isText = (value: unknown) => typeof value === 'string' && new RegExp(TEXT_PATTERN, 'u').test(value);

function fits(value: unknown, { array, type, choices, isNumber }: Flag): boolean {
  if (array === true) return Array.isArray(value) && value.every(isText);
  if (type === 'boolean') return typeof value === 'boolean';
  if (choices !== undefined) return choices.some((choice) => choice === value);
  return isNumber === true ? typeof value === 'number' : isText(value);
}

function needs({ array, type, choices, isNumber }: Flag): string {
  if (array === true) return 'a list of texts without control characters';
  if (type === 'boolean') return 'true or false';
  if (choices !== undefined) return choices.join(' or ');
  return isNumber === true ? 'a number, without quotes' : 'a text without control characters';
}

/** The value as it would be typed. */
function ofFile(value: unknown, flag: Flag, file: string, env: Environment): unknown {
  if (value === undefined || typeof value === 'boolean') return value;
  const asTyped = (text: string) =>
    flag.isHeader === true ? expanded(text, file, env) : located(text, flag, dirname(file));
  return Array.isArray(value) ? value.map(asTyped) : asTyped(`${value as string | number}`);
}

/** Relative paths start from the folder of the config file. */
function located(text: string, { names }: Flag, folder: string): string {
  const [, format = '', path = ''] = (names === 'file' ? /^()(.*)$/s : /^([^=]*=)(.*)$/s).exec(text) ?? [];
  return names === undefined || path === '' || isAbsolute(path) ? text : `${format}${join(folder, path)}`;
}

const expanded = (text: string, file: string, env: Environment) =>
  text.replace(variableReference, (_, name: string) => {
    const value = env[name] ?? '';
    if (value !== '') return value;
    throw usage(
      `${file}: --header needs the environment variable ${name}, which is not set: export ${name}=…`,
    );
  });
