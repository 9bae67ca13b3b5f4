import fs from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { printable } from '../reports/text.ts';
import { variableReference, type Environment } from '../schemas/fixture.ts';
import { parseJson } from '../schemas/json.ts';
import { didYouMean, wrongUsage } from '../schemas/problem.ts';
import type { CliContext } from './cli-context.ts';
import { nameOf, type Command, type Flag, type Flags, type Given } from './commands/command.ts';
import { readText, shownName } from './input-files.ts';

/** The flags and arguments of each command that has a section in the config file. */
type Sections = Readonly<Record<string, Flags>>;

type LoadCommands = () => Promise<readonly Command[]>;

/** Adds values of `IB_CONFORMANCE_…` variables and the config file to the typed values. Prints their sources on stderr. */
export async function configure(
  command: Command,
  typed: Given,
  context: CliContext,
  loadCommands: LoadCommands,
): Promise<Given> {
  const { positionals, flags, configured } = command;
  const { env, writeError } = context;
  await rejectUnread(env, loadCommands);
  if (configured === undefined) return typed;
  const file = await readConfig(typed['config'] ?? env[variableOf('config')], context, loadCommands);
  const section = file.content[configured.section];
  const all = Object.entries({ ...positionals, ...flags });
  const ignored = all.flatMap(([name, flag]) => (typed[name] !== undefined && flag.overrides) || []);
  const skipped = new Set([...Object.keys(typed).filter((name) => typed[name] !== undefined), ...ignored]);
  const found = Object.entries(configurableOf(command)).flatMap(([name, flag]) => {
    if (skipped.has(name)) return [];
    const ofVariable = fromVariable(name, flag, env, name in positionals);
    const value = ofVariable ?? fromFile(section?.[name], flag, file.path);
    const isOfFile = ofVariable === undefined;
    const source = isOfFile ? shownName(file.path) : variableOf(name);
    return value === undefined ? [] : [{ name, value, source, isOfFile }];
  });
  const notes = [...new Set(found.map(({ source }) => source))].map((source) => {
    const names = found.filter((one) => one.source === source).map(({ name }) => name);
    return `${names.join(', ')} from ${source}`;
  });
  if (notes.length > 0) writeError(`config: ${notes.join('; ')}\n`);
  const ofFile = found.filter((one) => one.isOfFile).map(({ name }) => name);
  return { ...typed, ...Object.fromEntries(found.map(({ name, value }) => [name, value])), ofFile };
}

/** Not only `IB_`: a partner has variables such as IB_HOST of its own. */
const PREFIX = 'IB_CONFORMANCE_';
const variableOf = (name: string) => `${PREFIX}${name.toUpperCase().replaceAll('-', '_')}`;

/** For a service named `ib-conformance`, Kubernetes sets IB_CONFORMANCE_PORT to an address in every container. */
const isServiceAddress = (text = '') => /^(?:tcp|udp|sctp):\/\//.test(text);
/** Other variables that Kubernetes sets, and those that `sweep` sets for the client. */
const OTHERS =
  /_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_|$)|^IB_CONFORMANCE_MOCK_(?:URL|KEY)$/;

/** Flags and arguments that variables and the config file may set. */
function configurableOf({ positionals, flags, configured }: Command): Flags {
  const all = Object.entries({ ...positionals, ...flags });
  return Object.fromEntries(
    all.filter(([name]) => configured !== undefined && configured.only?.includes(name) !== false),
  );
}

/** The sections of the config file. */
export const sectionsOf = (commands: readonly Command[]): Sections =>
  Object.fromEntries(
    commands
      .filter((command) => command.configured?.section === nameOf(command))
      .map((command) => [nameOf(command), configurableOf(command)]),
  );

/** @throws Problem with code `usage` for variables with our prefix that no command reads */
async function rejectUnread(env: Environment, loadCommands: LoadCommands): Promise<void> {
  const isOurs = (name: string) =>
    name.startsWith(PREFIX) && !OTHERS.test(name) && !isServiceAddress(env[name]);
  const ours = Object.keys(env).filter((name) => isOurs(name) && env[name]);
  if (ours.length === 0) return;
  const commands = await loadCommands();
  const isRead = ([, { configurable }]: readonly [string, Flag]) => configurable !== 'never';
  const configurable = commands.flatMap((one) => Object.entries(configurableOf(one)));
  const read = configurable.filter(isRead).map(([name]) => variableOf(name));
  const all = new Set(
    commands.flatMap((one) => Object.keys({ ...one.positionals, ...one.flags })).map(variableOf),
  );
  // The common prefix would make all names similar.
  const own = (name: string) => name.slice(PREFIX.length);
  const problems = ours.flatMap((name) => {
    if (read.includes(name)) return [];
    if (all.has(name)) return `${name}: this works only on the command line; unset the variable`;
    const hint = didYouMean(own(name), read.map(own)).replace('did you mean ', `$&${PREFIX}`);
    return `${name}: no command has this flag${hint || '; unset the variable'}`;
  });
  if (problems.length > 0) throw wrongUsage(problems.join('\n'));
}

function fromVariable(name: string, flag: Flag, env: Environment, isArgument: boolean): unknown {
  const variable = variableOf(name);
  const text = env[variable] ?? '';
  // If an empty IB_CONFORMANCE_URL counted as unset, verify would verify the mock.
  if (env[variable] === '' && isArgument)
    throw wrongUsage(`${variable} is empty: give it a value, or unset it`);
  if (text === '' || (flag.isNumber === true && isServiceAddress(text))) return undefined;
  if (flag.array === true) {
    const parts = text.split(flag.isHeader === true ? '\n' : /[\n,]/).map((part) => part.trim());
    return parts.filter((part) => part !== '');
  }
  const choices = flag.type === 'boolean' ? ['true', 'false'] : flag.choices;
  if (choices?.includes(text) === false)
    throw wrongUsage(`${variable}=${text}: needs ${choices.join(' or ')}`);
  return flag.type === 'boolean' ? text === 'true' : text;
}

/** Reads the config file that is named, or the one of the context if it exists. */
async function readConfig(named: unknown, context: CliContext, loadCommands: LoadCommands) {
  const path = ((named || undefined) as string | undefined) ?? context.configFile ?? '';
  if (!named && !fs.existsSync(path)) return { path, content: {} };
  const text = await readText(path, context, { what: `--config ${path}` });
  const where = shownName(path);
  const content = parseJson(text, where, 'usage');
  const problems = problemsOf(content, sectionsOf(await loadCommands()));
  if (problems.length > 0) throw wrongUsage(problems.map((problem) => `${where}: ${problem}`).join('\n'));
  return { path, content: content as Readonly<Record<string, Given>> };
}

const isObject = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the problems of a config file, each with its place. */
export function problemsOf(config: unknown, sections: Sections): readonly string[] {
  const hint = (key: string, known: object) => `unknown key${didYouMean(key, Object.keys(known))}`;
  if (!isObject(config)) return ['/: needs an object'];
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
  if (isNumber === 'or text' && typeof value === 'number') return undefined;
  if (isNumber === true) return unless(typeof value === 'number', 'a number, without quotes');
  return unless(isText(value), 'a string without control characters');
}

const pathIn = { file: /^.+/s, 'format=file': /(?<=^[^=]*=).+/s } as const;

/** Converts a value of the config file to typed text. Resolves relative paths from the folder of the file. */
function fromFile(value: unknown, flag: Flag, file: string): unknown {
  if (value === undefined || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((one) => fromFile(one, flag, file));
  const text = `${value as string | number}`;
  const resolved = (path: string) => (isAbsolute(path) || path === '-' ? path : join(dirname(file), path));
  return flag.path === undefined ? text : text.replace(pathIn[flag.path], resolved);
}

/** Replaces `${NAME}` in a header field by the variable. */
export const expandHeader = (text: string, env: Environment): string =>
  text.replace(variableReference, (_, name: string) => {
    if (env[name]) return env[name];
    throw wrongUsage(`--header needs the environment variable ${name}, which is not set: export ${name}=…`);
  });
