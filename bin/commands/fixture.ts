import fs from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { readFixture } from '../../schemas/fixture.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { Problem, wrongUsage } from '../../schemas/problem.ts';
import type { CliContext } from '../cli-context.ts';
import { command, type Values } from './command.ts';
import { file, list, onOff, seed, text, wholeNumberFrom } from './flags.ts';
import { rejectExisting, writeProblem, prepareFile } from '../output-files.ts';
import { generatedFixture } from '../fixture/generate.ts';
import { schemaReference } from '../schema-reference.ts';
import { loadFixture } from '../fixture-file.ts';
import { csvOf, sqlOf, tablesOf, type Table } from '../fixture/export.ts';

/** More keys do not help a test. */
const MAX_PARTNERS = 10_000;
const MAX_RECORDS = 100_000_000;

const formats = ['json', 'sql', 'csv'] as const;
type Format = (typeof formats)[number];

const defaults = { users: 1000, deposits: 1000, partners: 2, seed: 1 };

const flags = {
  output: {
    ...list,
    describe: 'write to this .json or .sql file, or CSV to this folder (default: standard output)',
  },
  format: {
    ...text,
    choices: formats,
    describe: 'choose the format, if no file name says it: sql is for PostgreSQL and SQLite',
  },
  from: { ...file, describe: 'use the data of this fixture instead of new data; the output has its keys' },
  users: {
    ...wholeNumberFrom(0, MAX_RECORDS),
    describe: `generate this many users (default: ${defaults.users})`,
  },
  deposits: {
    ...wholeNumberFrom(0, MAX_RECORDS),
    describe: `generate this many deposits (default: ${defaults.deposits})`,
  },
  partners: {
    ...wholeNumberFrom(1, MAX_PARTNERS),
    describe: `generate this many partners, each with an active key (default: ${defaults.partners})`,
  },
  seed: { ...seed, describe: `set the seed of all values (default: ${defaults.seed})` },
  'no-becomes': {
    ...onOff,
    describe: 'keep pending deposits pending, as a database does (always with SQL or CSV)',
  },
  force: { ...onOff, describe: 'overwrite existing files' },
} as const;

type FixtureFlags = Values<typeof flags>;

export const fixture = command({
  usage: 'fixture',
  what: 'generate rich test data as JSON, SQL or CSV; the same seed gives the same data',
  flags,
  examples: [
    ['$0 fixture --output fixture.json --output data.sql', 'the same data for verify and your database'],
    ['$0 fixture --from fixture.json --output tables', 'your data as CSV, a file for each table'],
    ['$0 fixture --users 1000000 --deposits 1000000 --output big.json', 'data for a load test'],
  ],
  run: async (values, context) => {
    const outputs = values.output.map((path) => ({ path, format: values.format ?? formatOf(path) }));
    const printed = outputs.length === 0 ? (values.format ?? 'json') : undefined;
    if (printed === 'csv')
      throw wrongUsage('--format csv needs --output with a folder: it writes one file per table');
    if (!values.force) rejectExisting(outputs.flatMap(filesOf));
    const all = [...outputs.map(({ format }) => format), printed ?? []].flat();
    const data = dataOf(values, all, context);
    if (printed !== undefined) await printAll(await data.textOf(printed, 'fixture.json'), context);
    for (const output of outputs) await write(output, data, context);
    return 0;
  },
});

function formatOf(path: string): Format {
  const [, ending] = /\.([^./\\]+)$/.exec(path) ?? [];
  if (ending === undefined) return 'csv';
  if (ending === 'json' || ending === 'sql') return ending;
  throw wrongUsage(`--output ${path}: needs a file that ends with .json or .sql, a folder, or --format`);
}

const tables = ['partners', 'api_keys', 'users', 'deposits'] as const;

const filesOf = ({ path, format }: { readonly path: string; readonly format: Format }) =>
  format === 'csv' ? tables.map((name) => join(path, `${name}.csv`)) : [path];

interface Data {
  /** Texts of a file in turn. */
  readonly textOf: (format: 'json' | 'sql', path: string) => Promise<Iterable<string>>;
  readonly tables: () => Promise<readonly Table[]>;
  readonly mode?: number;
}

/** Only the owner may read files with the keys of a fixture. */
const PRIVATE = 0o600;

/** New data, or that of `--from`. */
function dataOf(values: FixtureFlags, wanted: readonly Format[], context: CliContext): Data {
  const { from, noBecomes, force: _force, output: _output, format: _format, ...amounts } = values;
  if (from !== undefined) {
    const typed = Object.entries({ ...amounts, 'no-becomes': noBecomes || undefined }).find(
      ([, value]) => value !== undefined,
    );
    if (typed !== undefined) throw wrongUsage(`--${typed[0]} is for new data: omit it, or --from`);
    if (wanted.includes('json'))
      throw wrongUsage('--from is a JSON fixture already: give --format sql or csv, or --output data.sql');
    const load = async () => tablesOf(await loadFixture(from, context.env, context));
    return { textOf: async () => sqlOf(await load()), tables: load, mode: PRIVATE };
  }
  const { users, deposits, partners, seed: start } = { ...defaults, ...given(amounts) };
  if (users === 0 && deposits > 0)
    throw wrongUsage(`--deposits ${deposits}: every deposit needs a user; give --users 1 or more`);
  const isForDatabase = noBecomes || wanted.some((format) => format !== 'json');
  const json = (schema?: string) =>
    generatedFixture({ users, deposits, partners }, start, isForDatabase ? 'staying' : 'becoming', schema);
  const load = async () => tablesOf(fixtureIn(json()));
  return {
    textOf: async (format, path) =>
      format === 'sql' ? sqlOf(await load()) : json(schemaReference('fixture', path)),
    tables: load,
  };
}

const given = (amounts: Readonly<Record<string, number | undefined>>): Partial<typeof defaults> =>
  Object.fromEntries(Object.entries(amounts).filter(([, value]) => value !== undefined));

const fixtureIn = (texts: Iterable<string>): Fixture => readFixture([...texts].join(''), 'the fixture', {});

async function write(
  { path, format }: { readonly path: string; readonly format: Format },
  data: Data,
  { signal }: CliContext,
): Promise<void> {
  const what = format === 'json' ? 'the fixture' : 'the export';
  if (format !== 'csv') {
    const pending = await prepareFile(path, what, data.mode);
    return pending.write(batched(await data.textOf(format, path), signal));
  }
  await fs.promises.mkdir(path, { recursive: true }).catch((error: unknown) => {
    throw writeProblem(path, what, error);
  });
  for (const table of await data.tables()) {
    const pending = await prepareFile(join(path, `${table.name}.csv`), what, data.mode);
    await pending.write(batched(csvOf(table), signal));
  }
}

async function printAll(texts: Iterable<string>, { print, signal }: CliContext): Promise<void> {
  for (const batch of batched(texts, signal)) {
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
