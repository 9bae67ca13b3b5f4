import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, basename } from 'node:path';
import { Problem } from '../schemas/problem.ts';

/** A file that will be there whole or not at all. */
export interface PendingFile {
  /** Text in chunks is written as it comes. What its maker throws is thrown on. */
  readonly write: (text: string | Iterable<string>) => Promise<void>;
  /** Removes what was not written whole. */
  readonly discard: () => Promise<void>;
}

/**
 * Makes sure, before the work, that its result can be written after it.
 *
 * @param what is written, for messages: `the report`
 * @param mode permissions of a new file, before the umask
 * @throws Problem with code `usage` where it cannot
 */
export async function prepareFile(file: string, what: string, mode = 0o666): Promise<PendingFile> {
  const failure = (error: unknown) => {
    const { code, message, syscall } = error as NodeJS.ErrnoException;
    if (code !== 'EISDIR' && syscall === undefined) return error;
    const why = (code === undefined ? undefined : reasons[code]) ?? message;
    return new Problem('usage', `${file}: ${what} cannot be written: ${why}`);
  };
  try {
    const existing = await stat(file).catch(() => undefined);
    if (existing?.isDirectory() === true) throw Object.assign(new Error(), { code: 'EISDIR' });
    // A pipe or a device is written to; only a file can be put in the place of another.
    const isSpecial = existing !== undefined && !existing.isFile();
    const draft = isSpecial ? file : join(dirname(file), `.${basename(file)}.${process.pid}.part`);
    const discard = () => (isSpecial ? Promise.resolve() : rm(draft, { force: true }));
    if (!isSpecial) await writeFile(draft, '', { mode });
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
