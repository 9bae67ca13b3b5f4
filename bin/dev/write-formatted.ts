import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { root } from './paths.ts';

/** Writes a file of the repository as prettier formats it. */
export async function writeFormatted(file: string, text: string): Promise<void> {
  const filepath = join(root, file);
  await writeFile(filepath, await format(text, { ...(await resolveConfig(filepath)), filepath }));
}
