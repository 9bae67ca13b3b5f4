import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../schemas/problem.ts';
import { loadFixture } from './fixture-file.ts';
import { csvOf } from './fixture/csv.ts';
import { ndjsonOf } from './fixture/ndjson.ts';
import { writeOutputs, type Output } from './fixture/output.ts';
import { sqlOf } from './fixture/sql.ts';
import { tablesOf, type Table } from './fixture/tables.ts';
import type { CliContext } from './cli-context.ts';

/** The flags of `fixture export`, as they were typed. */
export interface ExportFlags {
  readonly file: string;
  readonly format: ExportFormat;
  readonly output?: string | undefined;
}

type ExportFormat = 'sql' | 'csv' | 'ndjson';
type Export = (tables: readonly Table[], output: string | undefined) => Promise<readonly Output[]>;

/** Files hold keys: they are their owner's alone. */
const secret = { what: 'the export', isSecret: true } as const;

const exports: Readonly<Record<ExportFormat, Export>> = {
  sql: async (tables, file) => [{ chunks: sqlOf(tables), file, ...secret }],
  ndjson: async (tables, file) => [{ chunks: ndjsonOf(tables), file, ...secret }],
  csv: async (tables, folder) => {
    if (folder === undefined)
      throw new Problem('usage', '--format csv: writes a file for each table; give --output with a folder');
    await makeFolder(folder);
    return tables.map((table) => ({
      chunks: csvOf(table),
      file: join(folder, `${table.name}.csv`),
      ...secret,
    }));
  },
};

/**
 * Writes a fixture, once it is checked whole, as data for a database. Keys are written out, those
 * from the environment as well: a server's database needs them.
 *
 * @throws Problem with code `fixture`, `usage` or `interrupted`
 */
export async function exportFixture(flags: ExportFlags, context: CliContext): Promise<void> {
  const fixture = await loadFixture(flags.file, context.env);
  await writeOutputs(await exports[flags.format](tablesOf(fixture), flags.output), context);
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' || code === 'ENOTDIR' ? 'there is a file of that name' : message;
    throw new Problem('usage', `${folder}: the export cannot be written: ${why}`);
  }
}
