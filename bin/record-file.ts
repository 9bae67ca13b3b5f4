import { readFile } from 'node:fs/promises';
import type { RunRecord } from '../schemas/generated/types.ts';
import { Problem } from '../schemas/problem.ts';
import { readRecord } from '../schemas/records.ts';
import { version } from './version.ts';

/**
 * Loads a run record from a file.
 *
 * @throws Problem with code `usage`: what is wrong, and where in the file
 */
export async function loadRecord(file: string): Promise<RunRecord> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Problem('usage', `${file}: ${reasons[code ?? ''] ?? `cannot be read: ${message}`}`);
  }
  return readRecord(text, file, version);
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; `verify --report json=file` writes a run record',
  EISDIR: 'is a folder, not a run record',
  EACCES: 'may not be read: check its permissions',
};
