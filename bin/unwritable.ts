import { Problem } from '../schemas/problem.ts';

/**
 * Why a file cannot be written, in words; an error that is none of the system's comes back as it is.
 *
 * @param what was to be written: `the report`
 */
export function unwritable(file: string, what: string, error: unknown): unknown {
  const { code, message, syscall } = error as NodeJS.ErrnoException;
  if (code !== 'EISDIR' && syscall === undefined) return error;
  const why = (code === undefined ? undefined : reasons[code]) ?? message;
  return new Problem('usage', `${file}: ${what} cannot be written: ${why}`);
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'its folder does not exist',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'it is larger than a file may be here',
  EROFS: 'the file system is read-only',
  ENAMETOOLONG: 'its name is too long',
  ELOOP: 'its symbolic links lead in a circle',
  ENXIO: 'nobody reads the pipe',
  EPIPE: 'its reader closed it',
};
