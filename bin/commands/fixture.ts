import fs from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Problem, wrongUsage } from '../../schemas/problem.ts';
import type { CliContext } from '../cli-context.ts';
import { command, type Family } from './command.ts';
import { file, fileArgument, onOff, seed, wholeNumberOr } from './flags.ts';
import { rejectExisting, writeProblem, prepareFile } from '../output-files.ts';
import { generatedFixture } from '../fixture/generate.ts';
import { schemaReference } from '../schema-reference.ts';
import { loadFixture } from '../fixture-file.ts';
import { csvOf, ndjsonOf, sqlOf, tablesOf } from '../fixture/export.ts';

/** More keys do not help a test. */
const MAX_PARTNERS = 10_000;
const MAX_RECORDS = 100_000_000;

const generate = command({
  usage: 'generate',
  what: 'generate a large fixture with every state; the same seed gives the same data',
  flags: {
    users: { ...wholeNumberOr(1000, 0, MAX_RECORDS), describe: 'generate this many users' },
    deposits: { ...wholeNumberOr(1000, 0, MAX_RECORDS), describe: 'generate this many deposits' },
    partners: {
      ...wholeNumberOr(2, 1, MAX_PARTNERS),
      describe: 'generate this many partners, each with an active key',
    },
    seed: { ...seed, default: '1', describe: 'set the seed of all values' },
    'no-becomes': { ...onOff, describe: 'keep pending deposits pending, as a database does' },
    output: { ...file, describe: 'write to this file (default: standard output)' },
    force: { ...onOff, describe: 'overwrite an existing file' },
  },
  examples: [
    ['$0 fixture generate --output f.json', 'a fixture with 1,000 users and deposits'],
    [
      '$0 fixture generate --users 1000000 --deposits 1000000 --seed 7 --output big.json',
      'data for a load test',
    ],
  ],
  run: async (flags, context) => {
    const { users, deposits, partners, seed: start, noBecomes, output, force } = flags;
    if (users === 0 && deposits > 0)
      throw wrongUsage(`--deposits ${deposits}: every deposit needs a user; give --users 1 or more`);
    if (output !== undefined && !force) rejectExisting([output]);
    // Standard output is usually redirected to a file in the current folder.
    const schema = schemaReference('fixture', output ?? 'fixture.json');
    const pending = noBecomes ? 'staying' : 'becoming';
    const chunks = generatedFixture({ users, deposits, partners }, start, pending, schema);
    await write(chunks, output, 'the fixture', context);
    return 0;
  },
});

/** Only the owner may read exported files, because they contain keys. */
const PRIVATE = 0o600;

const exportFixture = command({
  usage: 'export <file>',
  what: 'export a fixture as data for your database; the data contains the keys',
  positionals: { file: fileArgument('the fixture') },
  flags: {
    format: {
      type: 'string',
      choices: ['sql', 'csv', 'ndjson'],
      demandOption: true,
      requiresArg: true,
      describe: 'choose sql (PostgreSQL, SQLite), csv (one file per table) or ndjson (one object per line)',
    },
    output: { ...file, describe: 'write to this file (default: standard output); csv: to this folder' },
  },
  examples: [
    ['$0 fixture export f.json --format sql | psql -v ON_ERROR_STOP=1 testdb', 'fill a database'],
    ['$0 fixture export f.json --format csv --output tables', 'one file per table'],
  ],
  run: async ({ file: fixtureFile, format, output }, context) => {
    const tables = tablesOf(await loadFixture(fixtureFile, context.env, context));
    if (format !== 'csv') {
      const chunks = format === 'sql' ? sqlOf(tables) : ndjsonOf(tables);
      await write(chunks, output, 'the export', context, PRIVATE);
      return 0;
    }
    if (output === undefined)
      throw wrongUsage('--format csv needs --output with a folder: it writes one file per table');
    await fs.promises.mkdir(output, { recursive: true }).catch((error: unknown) => {
      throw writeProblem(output, 'the export', error);
    });
    for (const table of tables)
      await write(csvOf(table), join(output, `${table.name}.csv`), 'the export', context, PRIVATE);
    return 0;
  },
});

const BATCH = 100_000;

/**
 * Writes texts to a file or standard output while they are generated. An interruption leaves the old file
 * unchanged.
 *
 * @param what name in messages: `the fixture`
 */
async function write(
  texts: Iterable<string>,
  output: string | undefined,
  what: string,
  { print, signal }: CliContext,
  mode?: number,
): Promise<void> {
  const batches = function* () {
    let batch = '';
    for (const text of texts) {
      if (signal.aborted) throw new Problem('interrupted', 'interrupted before everything was written');
      batch += text;
      if (batch.length < BATCH) continue;
      yield batch;
      batch = '';
    }
    yield batch;
  };
  if (output !== undefined) {
    return (await prepareFile(output, what, mode)).write(batches());
  }
  for (const batch of batches()) {
    await print(batch);
    // Lets the process handle signals between batches.
    await setImmediate();
  }
}

export const fixture: Family = {
  usage: 'fixture',
  what: 'generate and export fixture files',
  commands: [generate, exportFixture],
};
