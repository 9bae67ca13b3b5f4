import { open, rename, rm } from 'node:fs/promises';
import { dirname, join, basename } from 'node:path';
import { reports, type ReportName } from '../reports/index.ts';
import { Problem } from '../schemas/problem.ts';
import { didYouMean } from './nearest.ts';

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
  const draft = join(dirname(file), `.${basename(file)}.${process.pid}.part`);
  const failure = (error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    return new Problem(
      'usage',
      `${file}: the report cannot be written: ${(code === undefined ? undefined : reasons[code]) ?? message}`,
    );
  };
  try {
    await refuseFolder(file);
    await (await open(draft, 'w')).close();
  } catch (error) {
    throw failure(error);
  }
  const discard = () => rm(draft, { force: true });
  return {
    discard,
    write: async (text) => {
      try {
        const handle = await open(draft, 'w');
        try {
          await handle.writeFile(text);
        } finally {
          await handle.close();
        }
        await rename(draft, file);
      } catch (error) {
        await discard();
        throw failure(error);
      }
    },
  };
}

async function refuseFolder(file: string): Promise<void> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return;
  const isFolder = (await handle.stat()).isDirectory();
  await handle.close();
  if (isFolder) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder does not exist',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
};
