import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, basename } from 'node:path';
import { reports, type ReportName } from '../reports/index.ts';
import { Problem } from '../schemas/problem.ts';
import { didYouMean } from '../schemas/nearest.ts';

/** A report that was asked for; without a file it goes to standard output. */
export interface ReportRequest {
  readonly format: ReportName;
  readonly file?: string;
}

/**
 * Reads `format` or `format=file`.
 *
 * @throws Problem with code `usage`
 */
export function parseReport(text: string): ReportRequest {
  const [format = '', ...rest] = text.split('=');
  if (!isReportName(format))
    throw new Problem(
      'usage',
      `--report ${text}: there is no format ${format}${didYouMean(format, Object.keys(reports))} (known: ${Object.keys(reports).join(', ')})`,
    );
  const file = rest.join('=');
  if (rest.length > 0 && file === '')
    throw new Problem('usage', `--report ${text}: the file name is missing behind =`);
  return rest.length === 0 ? { format } : { format, file };
}

const isReportName = (text: string): text is ReportName => Object.hasOwn(reports, text);

/** A file that will be there whole or not at all. */
export interface PendingFile {
  readonly write: (text: string) => Promise<void>;
  /** Removes what was not written whole. */
  readonly discard: () => Promise<void>;
}

/**
 * Makes sure, before the run, that a report can be written after it.
 *
 * @throws Problem with code `usage` where it cannot
 */
export async function prepareFile(file: string): Promise<PendingFile> {
  const failure = (error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = (code === undefined ? undefined : reasons[code]) ?? message;
    return new Problem('usage', `${file}: the report cannot be written: ${why}`);
  };
  try {
    const existing = await stat(file).catch(() => undefined);
    if (existing?.isDirectory() === true) throw Object.assign(new Error(), { code: 'EISDIR' });
    // A pipe or a device is written to; only a file can be put in the place of another.
    const isSpecial = existing !== undefined && !existing.isFile();
    const draft = isSpecial ? file : join(dirname(file), `.${basename(file)}.${process.pid}.part`);
    const discard = () => (isSpecial ? Promise.resolve() : rm(draft, { force: true }));
    if (!isSpecial) await writeFile(draft, '');
    return {
      discard,
      write: async (text) => {
        try {
          await writeFile(draft, text);
          if (!isSpecial) await rename(draft, file);
        } catch (error) {
          await discard();
          throw failure(error);
        }
      },
    };
  } catch (error) {
    throw failure(error);
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder does not exist',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
};
