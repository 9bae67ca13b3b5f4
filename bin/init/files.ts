import { existsSync } from 'node:fs';
import { Problem } from '../../schemas/problem.ts';
import { prepareFile } from '../output-files.ts';

/** A file to begin with: its place, what it is in messages, and its content as JSON. */
export interface FirstFile {
  readonly file: string;
  readonly what: string;
  readonly content: object;
}

/** @throws Problem with code `usage` that names the files that are there already */
export function refuseExisting(files: readonly string[]): void {
  const there = files.filter((file) => existsSync(file));
  if (there.length > 0)
    throw new Problem(
      'usage',
      there.map((file) => `${file}: is there already; --force writes over it`).join('\n'),
    );
}

/**
 * Writes all of the files or, where one of them cannot be written, none.
 *
 * @throws Problem with code `usage`
 */
export async function writeFirstFiles(files: readonly FirstFile[]): Promise<void> {
  const pending = [];
  try {
    for (const { file, what, content } of files)
      pending.push({ file: await prepareFile(file, what), content });
    for (const { file, content } of pending) await file.write(`${JSON.stringify(content, undefined, 2)}\n`);
  } catch (error) {
    await Promise.all(pending.map(({ file }) => file.discard()));
    throw error;
  }
}
