import yargs, { type Argv } from 'yargs';
import { Problem } from '../schemas/problem.ts';
import { clockModes } from '../mock/clock.ts';
import { sessionDefaults } from '../mock/session-defaults.ts';
import { defaults } from './defaults.ts';
import { exitCodes } from './exit-codes.ts';
import type { Surroundings } from './surroundings.ts';
import { didYouMean } from '../schemas/nearest.ts';
import { version } from './version.ts';

/** The only file that knows yargs. Each command loads what it needs when it is called. */
export async function commandLine(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  let code = 0;
  const parser = yargs()
    .scriptName('ib-conformance')
    .usage('$0 <command>\n\nVerifies servers of the partner referral (IB) lookup interface, and mocks one.')
    .command(
      'verify [url]',
      'verify a server, or the mock where no URL is given',
      verifyOptions,
      async (flags) => {
        const { verify } = await import('./verify.ts');
        code = await verify(flags, surroundings);
      },
    )
    .command('mock', 'run the reference server over fixture data', mockOptions, async (flags) => {
      const { mock } = await import('./mock.ts');
      code = await mock(flags, surroundings);
    })
    .command(
      'requirements',
      'list what is checked',
      (command) =>
        command
          .option('json', { type: 'boolean', default: false, describe: 'as JSON, for programs' })
          .option('by-clause', {
            type: 'boolean',
            default: false,
            describe: 'by the clauses of the interface',
          }),
      async ({ json, byClause }) => {
        const { listClauses, listRequirements, listRequirementsAsJson } = await import('./requirements.ts');
        await surroundings.print(
          byClause ? listClauses() : json ? listRequirementsAsJson() : listRequirements(),
        );
      },
    )
    .command('fixture', 'check, make and export fixture files', (command) =>
      command
        .command(
          'check <file>',
          'say what is wrong with a fixture, and what it leaves unchecked',
          (check) =>
            check.positional('file', { type: 'string', demandOption: true, describe: 'the fixture' }),
          async ({ file }) => {
            const { checkFixture } = await import('./fixture-check.ts');
            await surroundings.print(await checkFixture(file, surroundings.env));
          },
        )
        .command(
          'generate',
          'make a large fixture: every state, values worth testing, always the same for a seed',
          generateOptions,
          async (flags) => {
            const { generateFixture } = await import('./fixture-generate.ts');
            await generateFixture(flags, surroundings);
          },
        )
        .command(
          'export <file>',
          'write a fixture as data for the database of your server; it holds the keys',
          exportOptions,
          async (flags) => {
            const { exportFixture } = await import('./fixture-export.ts');
            await exportFixture(flags, surroundings);
          },
        )
        .demandCommand(1, 'fixture: what shall be done with it? There are check, generate, export'),
    )
    .command(
      'healthcheck [url]',
      'exit with 0 where a mock answers, with 1 where none does',
      (command) =>
        command.positional('url', {
          type: 'string',
          default: 'http://127.0.0.1:4010',
          describe: '{base_url} of the mock',
        }),
      async ({ url }) => {
        const [{ ailment }, { targetUrl }] = await Promise.all([
          import('./healthcheck.ts'),
          import('./values.ts'),
        ]);
        const problem = await ailment(targetUrl(url));
        if (problem === undefined) return;
        surroundings.writeError(`ib-conformance: ${url} is not healthy: ${problem}\n`);
        code = 1;
      },
    )
    .command(
      'self-test',
      'hold the suites against every fault and every variant of the mock',
      (command) =>
        command
          .option('json', { type: 'boolean', default: false, describe: 'as JSON, with every pair' })
          .option('seed', { ...text, default: '1', describe: 'whole number that decides every drawn input' }),
      async ({ json, seed }) => {
        const [{ selfTest }, { loadFixture }, { wholeNumber }] = await Promise.all([
          import('./self-test.ts'),
          import('./fixture-file.ts'),
          import('./values.ts'),
        ]);
        const fixture = await loadFixture(undefined, surroundings.env);
        const result = await selfTest(fixture, wholeNumber('seed', seed, -(2 ** 31), 2 ** 31 - 1), json);
        await surroundings.print(result.text);
        code = result.gaps.length === 0 ? exitCodes.conformant[0] : exitCodes.nonconformant[0];
      },
    )
    .demandCommand(1, 'which command? There are verify, mock, requirements, fixture, healthcheck, self-test')
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
    .wrap(Math.min(110, surroundings.terminal.width))
    .parserConfiguration({
      'greedy-arrays': false,
      'boolean-negation': false,
    })
    .check(refuseRepeated)
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
  if (printed !== '') await surroundings.print(`${printed}\n`);
  return code;
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

const list = { type: 'string', array: true, default: [] as string[], requiresArg: true } as const;
const text = { type: 'string', requiresArg: true } as const;

const verifyFlags = {
  fixture: { ...text, describe: 'JSON file that says what is true of the target' },
  partner: {
    ...text,
    describe: 'id of the partner whose key makes the calls (default: that of the first active key)',
  },
  cases: { ...text, default: String(defaults.cases), describe: 'inputs per requirement' },
  seed: { ...text, describe: 'whole number that decides every drawn input (default: a new one, printed)' },
  concurrency: { ...text, default: String(defaults.concurrency), describe: 'requests at once' },
  suite: { ...list, describe: 'check this suite only; may be repeated' },
  only: { ...list, describe: 'check this requirement only; may be repeated' },
  skip: { ...list, describe: 'leave this requirement out; may be repeated' },
  timeout: { ...text, default: String(defaults.timeoutMs), describe: 'ms that an answer may take' },
  'max-duration': {
    ...text,
    default: `${defaults.maxDurationMs / 60_000}m`,
    describe: 'time that the run of a target may take: 90s, 5m, 1h; the mock waits in no time',
  },
  'max-requests': { ...text, describe: 'requests that the run may send (default: no bound)' },
  rate: {
    ...text,
    describe: 'requests a second, at most, such as 20 or 0.5 (default: as fast as they come)',
  },
  plan: {
    type: 'boolean',
    default: false,
    describe: 'say what the run would take and what would be cut, and send nothing',
  },
  strict: { type: 'boolean', default: false, describe: 'fail on recommended requirements too' },
  'allow-incomplete': {
    type: 'boolean',
    default: false,
    describe: 'exit 0 where nothing failed but something could not be judged',
  },
  header: { ...list, describe: "'name: value' to send with every request; may be repeated" },
  ca: { ...text, describe: 'PEM file of certificates to trust' },
  insecure: { type: 'boolean', default: false, describe: 'do not check certificates' },
  report: { ...list, describe: 'format or format=file (console, json); may be repeated' },
  'state-url': {
    ...text,
    describe: 'URL that changes the state of the target on request (README, state hook)',
  },
  'no-canary': {
    type: 'boolean',
    default: false,
    describe: 'do not show first, on the mock, that the suites can fail',
  },
  replay: { ...text, describe: 'with --only and --seed: the one input that a report names' },
} as const;

function verifyOptions(command: Argv) {
  return command
    .positional('url', { type: 'string', describe: '{base_url} of the target; may carry a path' })
    .options(verifyFlags)
    .example('$0 verify', 'verify the mock')
    .example('$0 verify https://ib.example.com --fixture f.json', 'verify your server')
    .example(
      '$0 verify http://localhost:8080 --fixture f.json --suite auth --report json=run.json',
      'one suite, with a record',
    );
}

const mockFlags = {
  port: { ...text, default: '4010', describe: 'port to listen on; 0 takes a free one' },
  host: { ...text, default: '127.0.0.1', describe: 'address to listen on' },
  'base-path': { ...text, default: '/', describe: 'path of {base_url}' },
  fixture: {
    ...text,
    describe: 'JSON file with partners, keys, users and deposits (default: the built-in one)',
  },
  limits: {
    type: 'string',
    choices: ['on', 'off'],
    default: 'on',
    requiresArg: true,
    describe: 'whether the rate limiters of the fixture work',
  },
  fault: { ...text, describe: 'deviate from the interface in one way; `--fault list` lists them' },
  variant: {
    ...text,
    describe: 'answer in another way that the interface allows; `--variant list` lists them',
  },
  chaos: {
    ...list,
    describe:
      'what goes wrong on the way, and how often: 500:0.1 (429, 500 to 599), reset:0.02, timeout, truncate, slow:200ms..2s; may be repeated',
  },
  'chaos-seed': {
    ...text,
    default: String(sessionDefaults.chaosSeed),
    describe: 'whole number that decides which requests --chaos befalls',
  },
  delay: { ...text, default: '0', describe: 'ms that every answer is held back' },
  scorecard: {
    ...list,
    describe: 'format or format=file (json, junit, text): grades the clients at the end; may be repeated',
  },
  watch: { type: 'boolean', default: false, describe: 'load the fixture again when its file changes' },
  clock: {
    type: 'string',
    choices: clockModes,
    default: 'real',
    requiresArg: true,
    describe: 'real; frozen until it is moved; poll: a second further with each poll of a pending deposit',
  },
  journal: {
    ...text,
    default: String(sessionDefaults.journal),
    describe: 'requests that are kept, of each world',
  },
  'max-worlds': {
    ...text,
    default: String(sessionDefaults.maxWorlds),
    describe: 'worlds that keys with ~name may open; past that the least recently used one is dropped',
  },
  'no-admin': { type: 'boolean', default: false, describe: 'leave the admin API out' },
  'admin-port': { ...text, describe: 'port of its own for the admin API; 0 takes a free one' },
  'admin-token': {
    ...text,
    describe:
      'what callers of the admin API have to present (default: none on loopback, else a new one, printed)',
  },
  'tls-cert': { ...text, describe: 'PEM file of a certificate: serve https' },
  'tls-key': { ...text, describe: 'PEM file of its key' },
  cors: { type: 'boolean', default: false, describe: 'let pages of any origin call the service' },
  log: {
    type: 'string',
    choices: ['pretty', 'json', 'silent'],
    default: 'pretty',
    requiresArg: true,
    describe: 'what is printed',
  },
} as const;

function mockOptions(command: Argv) {
  return command
    .options(mockFlags)
    .example('$0 mock', 'serve the built-in fixture on port 4010')
    .example('$0 mock --port 0 --fixture f.json --limits off', 'your data, on a free port, without limiters');
}

const generateFlags = {
  users: { ...text, default: '1000', describe: 'users to make' },
  deposits: { ...text, default: '1000', describe: 'deposits to make' },
  partners: { ...text, default: '2', describe: 'partners to make, each with an active key' },
  seed: { ...text, default: '1', describe: 'whole number that decides every value' },
  output: { ...text, describe: 'file to write (default: standard output)' },
} as const;

function generateOptions(command: Argv) {
  return command
    .options(generateFlags)
    .example('$0 fixture generate --output f.json', 'a fixture of a thousand users and deposits')
    .example(
      '$0 fixture generate --users 1000000 --deposits 1000000 --seed 7 --output big.json',
      'one that shows how a server does when it is full',
    );
}

const exportFlags = {
  format: {
    type: 'string',
    choices: ['sql', 'csv', 'ndjson'],
    demandOption: true,
    requiresArg: true,
    describe: 'sql for PostgreSQL and SQLite; csv, a file for each table; ndjson, an object a line',
  },
  output: { ...text, describe: 'file to write (default: standard output); for csv a folder' },
} as const;

function exportOptions(command: Argv) {
  return command
    .positional('file', { type: 'string', demandOption: true, describe: 'the fixture' })
    .options(exportFlags)
    .example('$0 fixture export f.json --format sql | psql -v ON_ERROR_STOP=1 testdb', 'fill a database')
    .example('$0 fixture export f.json --format csv --output tables', 'a file for each table');
}

/** A flag that takes one value was given one. */
function refuseRepeated(flags: Readonly<Record<string, unknown>>): true {
  for (const [name, option] of Object.entries({
    ...verifyFlags,
    ...mockFlags,
    ...generateFlags,
    ...exportFlags,
  })) {
    const given = flags[name];
    if (!('array' in option) && Array.isArray(given))
      throw new Problem(
        'usage',
        `--${name} was given more than once, with ${given.join(' and ')}: once is enough`,
      );
  }
  return true;
}

/** yargs names the flag that it does not know; this names the one that was meant. */
function withSuggestion(message: string): string {
  const [, unknown = ''] = /^Unknown arguments?: ([^,]+)/.exec(message) ?? [];
  const known = [verifyFlags, mockFlags, generateFlags, exportFlags];
  const flags = [...known.flatMap((one) => Object.keys(one)), 'json', 'help', 'version'];
  const choices = [
    ...flags.map((flag) => `--${flag}`),
    'verify',
    'mock',
    'requirements',
    'fixture',
    'healthcheck',
    'self-test',
  ];
  const asTyped =
    choices.find((choice) => choice === `--${unknown}`) === undefined ? `--${unknown}` : unknown;
  const near = unknown === '' ? '' : didYouMean(asTyped, choices) || didYouMean(unknown, choices);
  return `${message}${near} (--help shows what there is)`;
}
