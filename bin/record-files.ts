import type { RunRecord } from '../schemas/generated/types.ts';
import { readRecord } from '../schemas/records.ts';
import { readText } from './fixture-file.ts';
import { version } from './version.ts';

/** @throws Problem with code `usage`, a line for each problem with its place in the file */
export async function loadRecord(file: string): Promise<RunRecord> {
  return readRecord(await readText(file, file, messages), file, version);
}

const messages = {
  ENOENT: 'there is no such file; `verify --report json=file` writes a run record',
  EISDIR: 'is a folder, not a run record',
  EACCES: 'cannot be read: check its permissions',
};
