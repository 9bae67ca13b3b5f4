import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { codeOf, wrongUsage } from '../schemas/problem.ts';

type Text = string | Iterable<string>;

/** A file that is written completely or not at all. */
export interface PendingFile {
  readonly write: (text: Text) => Promise<void>;
  /** Deletes an incomplete file. */
  readonly discard: () => Promise<void>;
}

/** Temporary files, which an early exit deletes, for example on a second signal. */
const temporaryFiles = new Set<string>();
process.on('exit', () => {
  for (const temporary of temporaryFiles) rmSync(temporary, { force: true });
});

/**
 * Checks, before the work, that its result can be written. The text goes to a temporary file, which then
 * replaces the old file. What is no regular file, such as a pipe or a link, is written in place.
 *
 * @param what name in messages: `the report`
 * @param mode maximum permissions; default for a new file: 0o666 without the umask
 * @throws Problem with code `usage` if the file cannot be written
 */
export async function prepareFile(file: string, what: string, mode?: number): Promise<PendingFile> {
  const explain = (error: unknown) => {
    throw writeProblem(file, what, error);
  };
  const temporary = await temporaryFor(file, mode).catch(explain);
  const discard = async () => {
    if (temporary === undefined) return;
    await fs.rm(temporary, { force: true });
    temporaryFiles.delete(temporary);
  };
  const write = async (text: Text) => {
    if (temporary === undefined) return writeInPlace(file, text);
    await fs.writeFile(temporary, text);
    await fs.rename(temporary, file).catch(async (error: unknown) => {
      // A file that is a mount point, as in a container, can only be overwritten.
      if (!hasCode(error, 'EBUSY', 'EXDEV')) throw error;
      await fs.copyFile(temporary, file);
    });
  };
  return {
    discard,
    write: async (text) => {
      try {
        await write(text).catch(explain);
      } finally {
        await discard();
      }
    },
  };
}

/** Creates the temporary file; undefined: the file can only be written in place. */
async function temporaryFor(file: string, mode: number | undefined): Promise<string | undefined> {
  if (descriptorOf(file) !== undefined) return undefined;
  const [existing, target] = [
    await fs.lstat(file).catch(ignoreMissing),
    await fs.stat(file).catch(ignoreMissing),
  ];
  if (target?.isDirectory() === true) throw Object.assign(new Error(), { code: 'EISDIR' });
  if (existing?.isFile() === false) return undefined;
  if (existing !== undefined) await fs.access(file, fs.constants.W_OK);
  makeFolder(dirname(file));
  const temporary = join(dirname(file), `.ib-conformance-${crypto.randomUUID()}.part`);
  temporaryFiles.add(temporary);
  try {
    await fs.writeFile(temporary, '', { mode: mode ?? 0o666, flag: 'wx' });
    if (existing !== undefined) await fs.chmod(temporary, existing.mode & (mode ?? 0o7777));
  } catch (error) {
    temporaryFiles.delete(temporary);
    // A read-only folder: an existing file can still be overwritten.
    if (existing !== undefined && hasCode(error, 'EACCES', 'EPERM', 'EROFS')) return undefined;
    throw error;
  }
  return temporary;
}

/** Makes a folder and those above it. The `recursive` of Node never returns where none can be made, as in /proc. */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder);
}

async function writeInPlace(file: string, text: Text): Promise<void> {
  const descriptor = descriptorOf(file);
  if (descriptor === undefined) return fs.writeFile(file, text);
  for (const chunk of typeof text === 'string' ? [text] : text) writeFileSync(descriptor, chunk);
}

/** Returns the descriptor of an open file such as /dev/stdout. Opening it again would overwrite other output. */
function descriptorOf(file: string): number | undefined {
  const [, name, number] = /^\/dev\/(stdout|stderr|fd\/(\d+))$/.exec(file) ?? [];
  return name === undefined ? undefined : Number(number ?? { stdout: 1, stderr: 2 }[name]);
}

const hasCode = (error: unknown, ...codes: readonly string[]) => codes.includes(codeOf(error));

function ignoreMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error;
}

/** Turns a system error into a Problem; returns other errors unchanged. */
export function writeProblem(file: string, what: string, error: unknown): unknown {
  const { code = '', errno = 0, message, syscall } = error as NodeJS.ErrnoException;
  if (code !== 'EISDIR' && syscall === undefined) return error;
  // Some folders, such as /proc, refuse new files with ENOENT.
  const isRefused = code === 'ENOENT' && existsSync(dirname(file));
  const why = isRefused
    ? 'its folder takes no new files'
    : (messages[code] ?? getSystemErrorMap().get(errno)?.[1] ?? message);
  return wrongUsage(`${file}: ${what} cannot be written: ${why}`);
}

/** Replacements for unclear system messages. */
const messages: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist',
  ENOTDIR: 'a part of its path is a file, not a folder',
  EEXIST: 'a part of its path is a file, not a folder',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  ENXIO: 'the pipe has no reader',
  EPIPE: 'its reader closed it',
};

/** @throws Problem with code `usage`, a line for each regular file that exists */
export function rejectExisting(files: readonly string[]): void {
  const existing = files.filter((path) => existsSync(path) && statSync(path).isFile());
  if (existing.length > 0)
    throw wrongUsage(existing.map((path) => `${path}: exists; --force overwrites it`).join('\n'));
}

/** Schema files by the kind of JSON file. */
const schemas = { fixture: 'fixture.schema.json', config: 'config.schema.json' } as const;

/**
 * Returns the `$schema` of a JSON file, for editors: the path to the schema in the nearest `node_modules`,
 * by default in the folder of the file. It begins with `./` or `../`, because some editors resolve
 * other paths from the folder that they have open.
 *
 * @param file path of the file, which need not exist
 */
export function schemaReference(what: keyof typeof schemas, file: string): string {
  const schema = join('node_modules', 'ib-conformance', 'schemas', schemas[what]);
  const folder = dirname(resolve(file));
  let ancestor = folder;
  while (!existsSync(join(ancestor, schema)) && ancestor !== dirname(ancestor)) ancestor = dirname(ancestor);
  const path = existsSync(join(ancestor, schema)) ? relative(folder, join(ancestor, schema)) : schema;
  const url = path.replaceAll('\\', '/');
  return url.startsWith('..') ? url : `./${url}`;
}
