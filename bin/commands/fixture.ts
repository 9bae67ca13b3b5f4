import { setImmediate } from 'node:timers/promises';
import { readFixture } from '../../schemas/fixture.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { Problem, wrongUsage } from '../../schemas/problem.ts';
import type { CliContext } from '../cli-context.ts';
import { command, type Values } from './command.ts';
import { file, list, onOff, seed, text, wholeNumberFrom } from './flags.ts';
import { prepareFile, rejectExisting, schemaReference } from '../output-files.ts';
import { generatedFixture } from '../fixture/generate.ts';
import { loadFixture } from '../input-files.ts';
import { sqlOf, tablesOf } from '../fixture/export.ts';

/** More keys do not help a test. */
const MAX_PARTNERS = 10_000;
const MAX_RECORDS = 100_000_000;

const formats = ['json', 'sql'] as const;
type Format = (typeof formats)[number];

/** A schema with a point, the beginning of a name, or both. PostgreSQL cuts names after 63 characters. */
const PREFIX = /^(?:[a-z_]\w{0,49}\.)?(?:[a-z_]\w{0,49})?$/i;

const flags = {
  output: {
    ...list,
    describe: 'write to this .json or .sql file (default: standard output)',
  },
  format: {
    ...text,
    choices: formats,
    describe: 'choose the format, if no file name says it: sql is for PostgreSQL, MariaDB and SQLite',
  },
  from: { ...file, describe: 'use the data of this fixture instead of new data; the output has its keys' },
  users: {
    ...wholeNumberFrom(0, MAX_RECORDS),
    describe: 'generate this many users (default: 1000)',
  },
  deposits: {
    ...wholeNumberFrom(0, MAX_RECORDS),
    describe: 'generate this many deposits (default: 1000)',
  },
  partners: {
    ...wholeNumberFrom(1, MAX_PARTNERS),
    describe: 'generate this many partners, each with an active key (default: 3)',
  },
  cents: { ...onOff, describe: 'generate amounts of whole cents, which fit numeric(18,2)' },
  seed: { ...seed, describe: 'set the seed of all values (default: 1)' },
  'no-becomes': {
    ...onOff,
    describe: 'keep pending deposits pending, as a database does (always with SQL)',
  },
  'table-prefix': {
    ...text,
    coerce: (given: string) => {
      if (PREFIX.test(given)) return given;
      throw wrongUsage(
        `--table-prefix ${given}: needs letters, digits and underscores, such as test_, or a schema with a point`,
      );
    },
    describe: 'write this before table names: test_, or test. for a schema that exists (not in SQLite)',
  },
  force: { ...onOff, describe: 'overwrite existing files' },
} as const;

type FixtureFlags = Values<typeof flags>;

export const fixture = command({
  usage: 'fixture',
  what: 'generate rich test data as JSON or SQL; the same seed gives the same data',
  guide: 'fixture.md',
  flags,
  examples: [
    ['$0 fixture --output fixture.json --output data.sql', 'the same data for verify and your database'],
    ['$0 fixture --from fixture.json --output data.sql', 'your data as SQL'],
    ['$0 fixture --users 1000000 --deposits 1000000 --output big.json', 'data for a load test'],
  ],
  run: async (values, context) => {
    const { force, format, output } = values;
    const outputs = output.map((path) => ({ path, format: format ?? formatOf(path) }));
    if (outputs.length === 0) outputs.push({ path: STDOUT, format: format ?? 'json' });
    const isForDatabase = outputs.some((one) => one.format === 'sql');
    if (values.tablePrefix !== undefined && !isForDatabase)
      throw wrongUsage('--table-prefix is for SQL: add --output data.sql, or --format sql');
    const data = values.from === undefined ? newData(values, isForDatabase) : dataOf(values, context);
    const files = await Promise.all(outputs.map((one) => fileOf(one, data, values)));
    if (!force) rejectExisting(files.map(([path]) => path));
    for (const [path, texts, what] of files) await write(path, texts, what, data, context);
    return 0;
  },
});

/** Stands for standard output; no file has an empty path. */
const STDOUT = '';

function formatOf(path: string): Format {
  const [, ending] = /\.([^./\\]+)$/.exec(path) ?? [];
  if (ending === 'json' || ending === 'sql') return ending;
  throw wrongUsage(`--output ${path}: needs a file that ends with .json or .sql, or --format`);
}

interface Data {
  readonly json: (schema: string) => Iterable<string>;
  /** Loaded once. */
  readonly fixture: () => Promise<Fixture>;
  /** Maximum permissions of the files. */
  readonly mode?: number;
}

/** Only the owner may read files with the keys of a fixture. */
const PRIVATE = 0o600;

/** The data of `--from`. */
function dataOf(
  { from, users, deposits, partners, cents, seed: start, noBecomes }: FixtureFlags,
  context: CliContext,
): Data {
  const others = { users, deposits, partners, cents, seed: start, 'no-becomes': noBecomes };
  const typed = Object.entries(others).find(([, value]) => value !== undefined && value !== false);
  if (typed !== undefined) throw wrongUsage(`--${typed[0]} is for new data: omit it, or --from`);
  const json = () => {
    throw wrongUsage('--from is a JSON fixture already: give --format sql, or --output data.sql');
  };
  return { json, fixture: once(() => loadFixture(from, context.env, context)), mode: PRIVATE };
}

function newData(flagged: FixtureFlags, isForDatabase: boolean): Data {
  const { users = 1000, deposits = 1000, partners = 3, cents, seed: start = 1, noBecomes } = flagged;
  if (users === 0 && deposits > 0)
    throw wrongUsage(`--deposits ${deposits}: every deposit needs a user; give --users 1 or more`);
  const pending = noBecomes || isForDatabase ? 'staying' : 'becoming';
  const amount = { users, deposits, partners, cents };
  const json = (schema?: string) => generatedFixture(amount, start, pending, schema);
  return { json, fixture: once(async () => readFixture([...json()].join(''), 'the fixture', {})) };
}

function once<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | undefined;
  return () => (made ??= make());
}

type File = readonly [path: string, texts: Iterable<string>, what: string];

async function fileOf(
  { path, format }: { readonly path: string; readonly format: Format },
  { json, fixture: load }: Data,
  { cents, tablePrefix }: FixtureFlags,
): Promise<File> {
  // Standard output is usually redirected to a file in the current folder.
  if (format === 'json')
    return [path, json(schemaReference('fixture', path || 'fixture.json')), 'the fixture'];
  return [path, sqlOf(tablesOf(await load(), cents), tablePrefix), 'the export'];
}

async function write(
  path: string,
  texts: Iterable<string>,
  what: string,
  { mode }: Data,
  { print, signal }: CliContext,
): Promise<void> {
  const batches = batched(texts, signal);
  if (path !== STDOUT) return (await prepareFile(path, what, mode)).write(batches);
  for (const batch of batches) {
    await print(batch);
    // Lets the process handle signals between batches.
    await setImmediate();
  }
}

const BATCH = 100_000;

/** Joins short texts. An interruption leaves an old file unchanged. */
function* batched(texts: Iterable<string>, signal: AbortSignal): Generator<string> {
  let batch = '';
  for (const one of texts) {
    if (signal.aborted) throw new Problem('interrupted', 'interrupted before everything was written');
    batch += one;
    if (batch.length < BATCH) continue;
    yield batch;
    batch = '';
  }
  yield batch;
}
