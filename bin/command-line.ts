import yargs, { type Argv } from 'yargs';
import { didYouMean, wrongUsage } from '../schemas/problem.ts';
import type { CliContext } from './cli-context.ts';
import { helpOf, nameOf, type Command, type Flag } from './commands/command.ts';
import { mock } from './commands/mock.ts';
import { configure } from './config.ts';
import { exitCodes } from './exit-codes.ts';
import { version } from './version.ts';

/** Runs a command line and returns the exit code. The only file that imports yargs. */
export async function commandLine(argv: readonly string[], context: CliContext): Promise<number> {
  // The other commands load the engine. With it, the mock starts in 350 ms instead of 260. A wrong command line is parsed
  // again, because its message may name another command.
  const alone = argv[0] === 'mock' ? await parse([mock], argv, context).catch(() => undefined) : undefined;
  const { printed, chosen } = alone ?? (await parse((await loadAll()).commands, argv, context));
  if (printed !== '') await context.print(`${printed}\n`);
  if (chosen === undefined) return 0;
  const { command, typed } = chosen;
  rejectMisuse(command, typed);
  const sections = async () => (await loadAll()).configSections();
  const given = await configure(command, withTrailingWords(typed, argv), context, sections);
  rejectTwoInputs(command, given);
  return command.run(valuesOf(command, given) as never, context);
}

const loadAll = () => import('./commands/index.ts');

type Commands = readonly Command[];

/** Parses a command line. `printed` is the text of `--help` or `--version`. */
async function parse(commands: Commands, argv: readonly string[], context: CliContext) {
  let chosen: { readonly command: Command; readonly typed: Typed } | undefined;
  const choose: Choose = (command, typed) => {
    chosen = { command, typed };
  };
  const parser = yargs()
    .scriptName('ib-conformance')
    .usage('$0 <command>\n\nVerifies servers of the partner referral (IB) lookup interface, and mocks one.');
  register(parser, commands, choose)
    .demandCommand(1, `give a command: ${commands.map(nameOf).join(', ')}`)
    .strict()
    .version(version)
    // All other output is English too.
    .detectLocale(false)
    .help()
    .alias('help', 'h')
    .epilogue(
      `Exit codes:\n${Object.values(exitCodes)
        .map(([exitCode, meaning]) => `  ${String(exitCode).padStart(3)}  ${meaning}`)
        .join('\n')}`,
    )
    .wrap(Math.min(110, context.terminal.width))
    .parserConfiguration({ 'greedy-arrays': false, 'boolean-negation': false, 'populate--': true })
    .exitProcess(false)
    .fail((message: string, error: Error | undefined) => {
      // For wrong usage, yargs passes a YError or no error.
      throw error === undefined || error.name === 'YError'
        ? wrongUsage(withSuggestion(commands, inOurWords(commands, message ?? error?.message, argv), argv))
        : error;
    });
  // With a callback, yargs passes help and version as text instead of printing them.
  let printed = '';
  await parser.parseAsync([...argv], {}, (_error: Error | undefined, _flags: unknown, output: string) => {
    printed = output;
  });
  return { printed, chosen };
}

/** Values by the names of flags and arguments; undefined if not typed. */
type Typed = Readonly<Record<string, unknown>>;

type Choose = (command: Command, typed: Typed) => void;

function register(parser: Argv, list: Commands, choose: Choose): Argv {
  for (const one of list)
    parser.command(
      one.usage,
      one.what,
      (command) => {
        for (const [name, argument] of Object.entries(one.positionals))
          command.positional(name, yargsOption(argument));
        // yargs has a column for each part of its own examples, which breaks commands in two.
        const examples = one.examples.map(([line, what]) => `  ${line}  # ${what}`);
        if (examples.length > 0) command.epilogue(['Examples:', ...examples].join('\n'));
        command.hide('version');
        for (const [name, flag] of Object.entries(one.flags)) command.option(name, yargsOption(flag));
        return command;
      },
      (typed) => choose(one, typed),
    );
  return parser;
}

/**
 * Describes a flag to yargs. yargs shows a default but does not set it, because a config file may set the
 * flag.
 */
function yargsOption(flag: Flag) {
  const { default: value, coerce: _, ...rest } = flag;
  return {
    ...rest,
    describe: helpOf(flag),
    ...(typeof value === 'string' && { defaultDescription: value }),
  };
}

/** Rejects wrong usage that yargs accepts. */
function rejectMisuse({ flags, positionals }: Command, typed: Readonly<Record<string, unknown>>): void {
  const { '--': apart = [] } = typed;
  // A URL after `--` would be ignored.
  if ((apart as readonly unknown[]).length > 0 && !('command' in positionals))
    throw wrongUsage('-- takes no arguments here: omit it');
  for (const [name, flag] of Object.entries(flags)) {
    const given = typed[name];
    if (flag.array === undefined && Array.isArray(given))
      throw wrongUsage(
        `--${name} was given more than once${flag.isSecret === true ? '' : `, with ${given.join(' and ')}`}: give it once`,
      );
  }
}

/** Standard input can be read once. */
function rejectTwoInputs({ flags, positionals }: Command, given: Typed): void {
  const files = Object.entries({ ...positionals, ...flags }).filter(([, { path }]) => path === 'file');
  const names = files.filter(([name]) => given[name] === '-').map(([name]) => `--${name}`);
  if (names.length > 1) throw wrongUsage(`${names.join(', ')}: only one of them can be standard input (-)`);
}

/** Adds the words after `--` to the `command` argument. yargs would convert some of them to numbers. */
function withTrailingWords(typed: Readonly<Record<string, unknown>>, argv: readonly string[]) {
  const { command, '--': apart } = typed;
  if (command === undefined || apart === undefined) return typed;
  const before = command as readonly string[];
  return { ...typed, command: [...before, ...argv.slice(argv.indexOf('--') + (before.length > 0 ? 0 : 1))] };
}

function valuesOf({ positionals, flags }: Command, given: Readonly<Record<string, unknown>>) {
  const values = Object.entries({ ...positionals, ...flags }).map(([name, { default: fallback, coerce }]) => {
    const value = given[name] ?? fallback;
    const key = name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    return [key, value === undefined || coerce === undefined ? value : coerce(value as never, name)];
  });
  return Object.fromEntries(values) as Readonly<Record<string, unknown>>;
}

/** Messages of yargs in our words. `$usage` is the usage of the command. */
const ourWords: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/^Not enough non-option arguments: .*/, 'an argument is missing: ib-conformance $usage'],
  [/^Not enough arguments following: (.*)/, '--$1 needs a value'],
  [/^Missing required arguments?: (.*)/, '--$1 is missing'],
  [/^Invalid values:\s+Argument: ([^,]*), Given: "([^"]*)", Choices: (.*)/s, '--$1 $2: choose from $3'],
];

function inOurWords(commands: Commands, message: string, argv: readonly string[]): string {
  const found = ourWords.find(([pattern]) => pattern.test(message));
  const usages = commands.map(({ usage }) => usage);
  const isUsed = (usage: string) => argv.join(' ').startsWith(usage.replace(/ [<[].*/, ''));
  return found === undefined
    ? message
    : message.replace(...found).replace('$usage', usages.find(isUsed) ?? '<command>');
}

/** Adds "did you mean" to the message of yargs about an unknown flag or command. */
function withSuggestion(commands: Commands, message: string, argv: readonly string[]): string {
  const [, unknown = ''] = /^Unknown arguments?: ([^,]+)/.exec(message) ?? [];
  const isWord = argv.includes(unknown) && !argv.some((word) => word.startsWith(`--${unknown}`));
  const chosen = commands.find((one) => argv.includes(nameOf(one)));
  const flagsOf = (chosen === undefined ? commands : [chosen]).map(({ flags }) => flags);
  const known = isWord
    ? commands.map(nameOf)
    : [...flagsOf.flatMap(Object.keys), 'help'].map((flag) => `--${flag}`);
  const isRunner = commands.some((one) => nameOf(one) === argv[0] && 'command' in one.positionals);
  const near = unknown === '' ? '' : didYouMean(isWord ? unknown : `--${unknown}`, known);
  // It may be a flag of the command to run.
  const hint =
    isRunner && !argv.includes('--')
      ? `; put -- before the command: \`ib-conformance ${argv[0]} -- npm test\``
      : near;
  return `${message}${hint} (see --help)`;
}
