import { readFile } from 'node:fs/promises';
import { Problem } from '../schemas/problem.ts';

/**
 * Trust in certificates, as `--ca` and `--insecure` say.
 *
 * @throws Problem with code `usage` for a file that cannot be read
 */
export async function trustOf({
  ca,
  insecure,
}: {
  readonly ca?: string | undefined;
  readonly insecure: boolean;
}) {
  return { insecure, ...(ca === undefined ? {} : { ca: await readCertificates(ca) }) };
}

async function readCertificates(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new Problem('usage', `--ca ${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
