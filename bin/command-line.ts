import yargs, { type Argv } from 'yargs';
import { didYouMean, wrongUsage } from '../schemas/problem.ts';
import type { CliContext } from './cli-context.ts';
import { helpOf, nameOf, type Command, type Flag, type Given } from './commands/command.ts';
import { configure, expandHeader } from './config.ts';
import { exitCodes } from './exit-codes.ts';
import { programName } from './printed-command.ts';
import { version } from './version.ts';

/** Every command, in the order of the help. */
const loaders: Readonly<Record<string, () => Promise<Command>>> = {
  verify: async () => (await import('./commands/verify.ts')).verify,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  init: async () => (await import('./commands/init.ts')).init,
  mock: async () => (await import('./commands/mock.ts')).mock,
  sweep: async () => (await import('./commands/sweep.ts')).sweep,
  requirements: async () => (await import('./commands/requirements.ts')).requirements,
  answers: async () => (await import('./commands/answers.ts')).answers,
  fixture: async () => (await import('./commands/fixture.ts')).fixture,
};

export const loadCommands = () => Promise.all(Object.values(loaders).map((load) => load()));

/** Runs a command line and returns the exit code. The only file that imports yargs. */
export async function commandLine(argv: readonly string[], context: CliContext): Promise<number> {
  const { printed, command, values, given } = await readCommandLine(argv, context);
  if (printed !== '') await context.print(`${printed}\n`);
  return command === undefined ? 0 : command.run(values as never, context, given);
}

/** Other spellings of flags: `help verify` is `verify --help`. */
function respelled(argv: readonly string[]): readonly string[] {
  const [first = '', ...rest] = argv;
  if (first === 'help') return [...rest, ...(Object.hasOwn(loaders, rest[0] ?? 'verify') ? ['--help'] : [])];
  return first === '-v' || first === '-V' ? ['--version'] : argv;
}

/** Reads a command line, variables and the config file. @throws Problem with code `usage` */
export async function readCommandLine(words: readonly string[], context: CliContext) {
  const argv = respelled(words);
  const [first = ''] = argv;
  const load = Object.hasOwn(loaders, first) ? loaders[first] : undefined;
  // With the engine, the mock would start 100 ms later. The message about a wrong command line may name any command.
  const alone = load && (await parse([await load()], argv, context).catch(() => undefined));
  const { printed, chosen } = alone ?? (await parse(await loadCommands(), argv, context));
  if (chosen === undefined) return { printed, given: {} as Given };
  const { command, typed } = chosen;
  rejectMisuse(command, typed, argv);
  const given = await configure(command, withTrailingWords(typed, argv), context, loadCommands);
  rejectTwoInputs(command, given);
  return { printed, command, given, values: valuesOf(command, given, context.env) };
}

const epilogue = Object.values(exitCodes).map(([code, what]) => `\n  ${String(code).padStart(3)}  ${what}`);

/** Parses a command line. `printed` is the text of `--help` or `--version`. */
async function parse(commands: readonly Command[], argv: readonly string[], { terminal, env }: CliContext) {
  let chosen: { readonly command: Command; readonly typed: Given } | undefined;
  const parser = yargs()
    .scriptName('ib-conformance')
    .usage('$0 <command>\n\nVerifies servers of the partner referral (IB) lookup interface, and mocks one.')
    .demandCommand(1, `give a command: ${commands.map(nameOf).join(', ')}`)
    .strict()
    .version('version', 'Show version number (also -v, -V)', version)
    // All other output is English too.
    .detectLocale(false)
    .help()
    .alias('help', 'h')
    .epilogue(`Exit codes:${epilogue.join('')}\n\nGuides: README.md and docs in the package`)
    .wrap(Math.min(110, terminal.width))
    .parserConfiguration({
      'greedy-arrays': false,
      'boolean-negation': false,
      'camel-case-expansion': false,
      'dot-notation': false,
      'populate--': true,
    })
    .exitProcess(false)
    .fail((message: string, error: Error | undefined) => {
      // For wrong usage, yargs passes a YError or no error.
      throw error === undefined || error.name === 'YError'
        ? wrongUsage(explained(message ?? error?.message, commands, argv))
        : error;
    });
  for (const command of commands)
    parser.command(
      command.usage,
      command.what,
      (ofCommand) => describeTo(ofCommand, command, programName(env)),
      (typed) => void (chosen = { command, typed }),
    );
  // With a callback, yargs passes help and version as text instead of printing them.
  let printed = '';
  await parser.parseAsync([...argv], {}, (_error: Error | undefined, _flags: unknown, output: string) => {
    printed = output;
  });
  return { printed, chosen };
}

function describeTo(parser: Argv, one: Command, program: string): Argv {
  const { positionals, flags, groups = {}, guide, examples } = one;
  for (const [name, argument] of Object.entries(positionals)) parser.positional(name, yargsOption(argument));
  for (const [name, flag] of Object.entries(flags)) parser.option(name, yargsOption(flag));
  for (const [title, some] of Object.entries(groups)) parser.group(Object.keys(some), `${title}:`);
  // yargs has a column for each part of its own examples, which breaks commands in two.
  const lines = examples.map(([line, what]) => `\n  ${line.replace('$0', program)}  # ${what}`);
  const shown = lines.length > 0 ? [`Examples:${lines.join('')}`] : [];
  return parser.epilogue([...shown, `Guide: docs/${guide} in the package`].join('\n\n')).hide('version');
}

/** yargs shows a default but does not set it, because a config file may set the flag. */
function yargsOption(flag: Flag) {
  const { default: value, coerce: _, ...rest } = flag;
  const shown = typeof value === 'string' && { defaultDescription: value };
  return { ...rest, describe: helpOf(flag), ...shown };
}

/** Rejects wrong usage that yargs accepts. */
function rejectMisuse({ flags, positionals }: Command, typed: Given, argv: readonly string[]): void {
  const { '--': apart = [] } = typed;
  // A URL after `--` would be ignored.
  if ((apart as readonly unknown[]).length > 0 && !('command' in positionals))
    throw wrongUsage('-- takes no arguments here: omit it');
  const words = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length);
  for (const [name, flag] of Object.entries(flags)) {
    // yargs takes the last of two booleans, and any text but `true` for false.
    const booleans = flag.type === 'boolean' && words.filter((word) => word.split('=')[0] === `--${name}`);
    const wrong = booleans && booleans.find((word) => !/^[^=]+(?:=(?:true|false))?$/.test(word));
    if (wrong) throw wrongUsage(`${wrong}: needs true or false, or no value`);
    const given = booleans || typed[name];
    if (flag.array === true || !Array.isArray(given) || given.length < 2) continue;
    const values = flag.isSecret === true ? '' : `, with ${given.join(' and ')}`;
    throw wrongUsage(`--${name} was given more than once${values}: give it once`);
  }
}

/** Standard input can be read once. */
function rejectTwoInputs({ flags }: Command, given: Given): void {
  const files = Object.entries(flags).filter(([name, { path }]) => path === 'file' && given[name] === '-');
  const names = files.map(([name]) => `--${name}`).join(', ');
  if (files.length > 1) throw wrongUsage(`${names}: only one of them can be standard input (-)`);
}

/** Adds the words after `--` to the `command` argument. yargs would convert some of them to numbers. */
function withTrailingWords(typed: Given, argv: readonly string[]): Given {
  const { command, '--': apart } = typed;
  if (command === undefined || apart === undefined) return typed;
  const before = command as readonly string[];
  return { ...typed, command: [...before, ...argv.slice(argv.indexOf('--') + (before.length > 0 ? 0 : 1))] };
}

function valuesOf({ positionals, flags }: Command, given: Given, env: CliContext['env']): Given {
  const values = Object.entries({ ...positionals, ...flags }).map(([name, flag]) => {
    const { default: fallback, coerce, isHeader } = flag;
    const texts = given[name] ?? fallback;
    const value = isHeader === true ? (texts as string[]).map((text) => expandHeader(text, env)) : texts;
    const key = name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    return [key, value === undefined || coerce === undefined ? value : coerce(value as never, name)];
  });
  return Object.fromEntries(values) as Given;
}

/** Messages of yargs in our words. `$usage` is the usage of the command. */
const ourWords: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/^Not enough non-option arguments: .*/, 'an argument is missing: npx ib-conformance $usage'],
  [/^Not enough arguments following: (.*)/, '--$1 needs a value'],
  [/^Missing required arguments?: (.*)/, '--$1 is missing'],
  [/^Invalid values:\s+Argument: ([^,]*), Given: "([^"]*)", Choices: (.*)/s, '--$1 $2: choose from $3'],
];

function explained(message: string, commands: readonly Command[], argv: readonly string[]): string {
  const command = commands.find((one) => argv.includes(nameOf(one)));
  const [pattern, words] = ourWords.find(([one]) => one.test(message)) ?? [/$/, ''];
  const [, unknown] = /^Unknown arguments?: ([^,]+)/.exec(message) ?? [];
  const hint = unknown === undefined ? '' : hintFor(unknown, command, commands, argv);
  const text = message.replace(pattern, words).replace('$usage', command?.usage ?? '<command>');
  return `${text}${hint} (see --help)`;
}

/** What an unknown flag or command may mean. */
function hintFor(
  unknown: string,
  command: Command | undefined,
  commands: readonly Command[],
  argv: readonly string[],
): string {
  // It may be a flag of the command to run.
  if (command !== undefined && 'command' in command.positionals && !argv.includes('--'))
    return `; put -- before the command: \`npx ib-conformance ${nameOf(command)} -- npm test\``;
  if (argv.includes(unknown)) return didYouMean(unknown, commands.map(nameOf));
  const flags = (command === undefined ? commands : [command]).flatMap((one) => Object.keys(one.flags));
  return didYouMean(
    `--${unknown}`,
    [...flags, 'help'].map((flag) => `--${flag}`),
  );
}
