import yargs, { type Argv } from 'yargs';
import { didYouMean } from '../schemas/problem.ts';
import { Problem } from '../schemas/problem.ts';
import { helpOf, type Command, type Family, type Flag } from './commands/command.ts';
import { commands } from './commands/index.ts';
import { settings } from './config/index.ts';
import { noteOf } from './config/origin.ts';
import { retold } from './config/retell.ts';
import { sectionsOf } from './config/sections.ts';
import { exitCodes } from './exit-codes.ts';
import type { CliContext } from './cli-context.ts';
import { version } from './version.ts';

/** The only file that knows yargs. Each command loads what it needs when it is called. */
export async function commandLine(argv: readonly string[], context: CliContext): Promise<number> {
  let code = 0;
  const run: Run = async (command, typed) => {
    refuseSetApart(typed);
    refuseWithoutHelp(typed);
    refuseRepeated(command.flags, typed);
    const { values, origins } = await settings(command, typed, context, () => sectionsOf(commands));
    if (origins.size > 0) context.writeError(noteOf(origins));
    try {
      code = await command.run(values as never, context);
    } catch (error) {
      throw retold(error, origins);
    }
  };
  const parser = yargs()
    .scriptName('ib-conformance')
    .usage('$0 <command>\n\nVerifies servers of the partner referral (IB) lookup interface, and mocks one.');
  register(parser, commands, run)
    .demandCommand(1, `which command? There are ${commands.map(nameOf).join(', ')}`)
    .strict()
    .version(version)
    // English, like all else that is printed.
    .detectLocale(false)
    .help()
    .alias('help', 'h')
    .epilogue(
      `Exit codes:\n${Object.values(exitCodes)
        .map(([exitCode, meaning]) => `  ${String(exitCode).padStart(3)}  ${meaning}`)
        .join('\n')}`,
    )
    .wrap(Math.min(110, context.terminal.width))
    .parserConfiguration({
      'greedy-arrays': false,
      'boolean-negation': false,
      'populate--': true,
    })
    .exitProcess(false)
    .fail((message: string, error: Error | undefined) => {
      // What yargs itself finds wrong comes with its own error, or with none.
      throw error === undefined || error.name === 'YError'
        ? new Problem('usage', withSuggestion(message ?? error?.message))
        : error;
    });
  spareRendering(parser);
  // Help and version come back as text, so that nothing but the door writes.
  let printed = '';
  await parser.parseAsync([...argv], {}, (_error: Error | undefined, _flags: unknown, output: string) => {
    printed = output;
  });
  if (printed !== '') await context.print(`${printed}\n`);
  return code;
}

/** @param typed what was typed, by the names of flags and arguments; undefined for what was not */
type Run = (command: Command, typed: Readonly<Record<string, unknown>>) => Promise<void>;

/** Tells yargs of commands, and of those under them. */
function register(parser: Argv, list: readonly (Command | Family)[], run: Run): Argv {
  for (const one of list)
    if ('commands' in one)
      parser.command(one.usage, one.what, (family) =>
        register(family, one.commands, run).demandCommand(
          1,
          `${one.usage}: what shall be done with it? There are ${one.commands.map(nameOf).join(', ')}`,
        ),
      );
    else
      parser.command(
        one.usage,
        one.what,
        (command) => {
          for (const [name, argument] of Object.entries(one.positionals))
            command.positional(name, asToYargs(argument));
          for (const [line, what] of one.examples) command.example(line, what);
          command.hide('version');
          for (const [name, flag] of Object.entries(one.flags)) command.option(name, asToYargs(flag));
          const rare = Object.values(one.flags).filter(({ isRare }) => isRare === true);
          return rare.length === 0
            ? command
            : command.showHidden(ALL, `with --help: ${rare.length} more flags`);
        },
        (typed) => run(one, typed),
      );
  return parser;
}

/** yargs shows a default, but does not set it: what was not typed may be configured. */
function asToYargs(flag: Flag) {
  const { default: value, isRare, ...rest } = flag;
  return {
    ...rest,
    describe: helpOf(flag),
    ...(isRare === undefined ? {} : { hidden: true }),
    ...(typeof value === 'string' ? { defaultDescription: value } : {}),
  };
}

/** The flag that lets help show what it leaves out. */
const ALL = 'all';

const nameOf = ({ usage }: { readonly usage: string }) => usage.split(' ')[0]!;

const everyFlag = commands
  .flatMap((one) => ('commands' in one ? one.commands : [one]))
  .flatMap(({ flags }) => Object.entries(flags));

/** What stands behind `--` would be no argument of a command: a URL there would go unverified. */
function refuseSetApart({ '--': apart = [] }: { readonly '--'?: readonly unknown[] }): void {
  if (apart.length > 0) throw new Problem('usage', 'nothing goes behind --: leave the two hyphens out');
}

/** It says what help shows; whoever gives it without help may mean that everything is to be verified. */
function refuseWithoutHelp({ [ALL]: all }: { readonly [ALL]?: unknown }): void {
  if (all !== undefined) throw new Problem('usage', `--${ALL} goes with --help, and shows every flag`);
}

/** A flag that takes one value was given one. */
function refuseRepeated(flags: Command['flags'], values: Readonly<Record<string, unknown>>): void {
  for (const [name, flag] of Object.entries(flags)) {
    const given = values[name];
    if (flag.array === undefined && Array.isArray(given))
      throw new Problem(
        'usage',
        `--${name} was given more than once${flag.isSecret === true ? '' : `, with ${given.join(' and ')}`}: once is enough`,
      );
  }
}

/** yargs names the flag that it does not know; this names the one that was meant. */
function withSuggestion(message: string): string {
  const [, unknown = ''] = /^Unknown arguments?: ([^,]+)/.exec(message) ?? [];
  const flags = [...new Set([...everyFlag.map(([name]) => name), 'help', 'version'])];
  const choices = [...flags.map((flag) => `--${flag}`), ...commands.map(nameOf)];
  const asTyped =
    choices.find((choice) => choice === `--${unknown}`) === undefined ? `--${unknown}` : unknown;
  const near = unknown === '' ? '' : didYouMean(asTyped, choices) || didYouMean(unknown, choices);
  return `${message}${near} (--help shows what there is)`;
}

/**
 * yargs renders the help of every command that it runs, in case it is asked for later. Nobody asks:
 * that would be a tenth of the mock's start. Should a later yargs have no such method, only time is lost.
 */
function spareRendering(parser: Argv): void {
  const { getInternalMethods } = parser as unknown as {
    readonly getInternalMethods?: () => { getUsageInstance?: () => { cacheHelpMessage?: () => void } };
  };
  const usage = getInternalMethods?.call(parser).getUsageInstance?.();
  if (usage?.cacheHelpMessage !== undefined) usage.cacheHelpMessage = () => undefined;
}
