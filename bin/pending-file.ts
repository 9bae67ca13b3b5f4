import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import {
  access,
  chmod,
  chown,
  constants,
  copyFile,
  open,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { unwritable } from './unwritable.ts';

/** A file that will be there whole or not at all. */
export interface PendingFile {
  /** Text in chunks is written as it comes. What its maker throws is thrown on. */
  readonly write: (text: string | Iterable<string>) => Promise<void>;
  /** Removes what was not written whole. */
  readonly discard: () => Promise<void>;
}

/** Drafts that wait. Where the process ends at once, as on a second signal, they go with it. */
const drafts = new Set<string>();
process.on('exit', () => {
  for (const draft of drafts) rmSync(draft, { force: true });
});

/**
 * Makes sure, before the work, that its result can be written after it. It is written beside its place
 * and put there when all of it is on the disk: what was there before stays until then, and so do its
 * permissions. A symbolic link stays one.
 *
 * @param what is written, for messages: `the report`
 * @param mode permissions of the file at most; 0o666, before the umask, for a new one where it is missing
 * @throws Problem with code `usage` where it cannot
 */
export async function prepareFile(file: string, what: string, mode?: number): Promise<PendingFile> {
  const told = (error: unknown) => unwritable(file, what, error);
  try {
    const descriptor = descriptorOf(file);
    if (descriptor !== undefined) return direct((text) => writeAll(descriptor, text), told);
    const place = await behindLinks(file);
    const existing = await unlessMissing(stat(place));
    if (existing?.isDirectory() === true) throw Object.assign(new Error(), { code: 'EISDIR' });
    if (existing !== undefined) await access(place, constants.W_OK);
    // A pipe or a device is written to; only a file can be put in the place of another.
    if (existing?.isFile() === false) return direct((text) => writeFile(place, text), told);
    const draft = join(dirname(place), `.ib-conformance-${randomBytes(6).toString('hex')}.part`);
    drafts.add(draft);
    const discard = async () => {
      await rm(draft, { force: true });
      drafts.delete(draft);
    };
    try {
      await writeFile(draft, '', { mode: mode ?? 0o666, flag: 'wx' });
    } catch (error) {
      drafts.delete(draft);
      // In a folder that takes no new file, an old one may still be written to.
      if (existing !== undefined && closed.has((error as NodeJS.ErrnoException).code ?? ''))
        return direct((text) => writeFile(place, text), told);
      throw error;
    }
    if (existing !== undefined) await likeBefore(draft, existing, mode);
    return {
      discard,
      write: async (text) => {
        try {
          await writeThrough(draft, text);
          await putInPlace(draft, place);
          drafts.delete(draft);
        } catch (error) {
          await discard().catch(() => undefined);
          throw told(error);
        }
      },
    };
  } catch (error) {
    throw told(error);
  }
}

/** Where nothing can be put in the place of another, it is written as it comes. */
function direct(write: PendingFile['write'], told: (error: unknown) => unknown): PendingFile {
  return {
    discard: () => Promise.resolve(),
    write: async (text) => {
      try {
        await write(text);
      } catch (error) {
        throw told(error);
      }
    },
  };
}

/** What is open already is written to where it stands; opened anew, what others write would be lost. */
function descriptorOf(file: string): number | undefined {
  const [, name, number] = /^\/dev\/(stdout|stderr|fd\/(\d+))$/.exec(file) ?? [];
  return name === undefined ? undefined : name === 'stdout' ? 1 : name === 'stderr' ? 2 : Number(number);
}

async function writeAll(descriptor: number, text: string | Iterable<string>): Promise<void> {
  for (const chunk of typeof text === 'string' ? [text] : text) writeFileSync(descriptor, chunk);
}

/** Where a file is, or will be: a link is followed, also one that leads to nothing yet. */
async function behindLinks(file: string): Promise<string> {
  const found = await unlessMissing(realpath(file));
  if (found !== undefined) return found;
  const link = await readlink(file).catch(() => undefined);
  return link === undefined ? file : resolve(dirname(file), link);
}

async function unlessMissing<Found>(looking: Promise<Found>): Promise<Found | undefined> {
  try {
    return await looking;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Permissions and owner of the file that will be replaced; another's file stays theirs where we may give it away. */
async function likeBefore(
  draft: string,
  { mode, uid, gid }: { readonly mode: number; readonly uid: number; readonly gid: number },
  most = 0o7777,
): Promise<void> {
  await chown(draft, uid, gid).catch(() => undefined);
  await chmod(draft, mode & most);
}

/** Writes all of it, until it is on the disk: a full one may say so only then. */
async function writeThrough(draft: string, text: string | Iterable<string>): Promise<void> {
  const handle = await open(draft, 'r+');
  try {
    await writeFile(handle, text);
    await handle.sync().catch(unlessUnable);
  } finally {
    await handle.close();
  }
}

/** Some file systems cannot be asked to. */
function unlessUnable(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EINVAL' && error.code !== 'ENOTSUP' && error.code !== 'ENOSYS') throw error;
}

/** A file that is mounted on its own, as in a container, cannot be replaced, only filled. */
async function putInPlace(draft: string, place: string): Promise<void> {
  try {
    await rename(draft, place);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EBUSY' && code !== 'EXDEV') throw error;
    await copyFile(draft, place);
    await rm(draft, { force: true });
  }
}

/** What a folder says that takes no new file. */
const closed: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS']);
