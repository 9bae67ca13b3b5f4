import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { codeOf, Problem, type ProblemCode } from '../schemas/problem.ts';
import builtIn from '../schemas/built-in.fixture.json' with { type: 'json' };
import { readFixture, type Environment } from '../schemas/fixture.ts';
import type { Fixture } from '../schemas/generated/types.ts';

/** Where standard input comes from; by default from the process. */
export interface Input {
  /** Reads standard input to its end. */
  readonly readInput?: () => Promise<Uint8Array>;
}

/** How a file that cannot be read is reported. */
interface Reporting {
  /** Name of the file in messages: `--ca ca.pem`. */
  readonly what?: string;
  /** Messages by system error code. */
  readonly messages?: Readonly<Record<string, string>>;
  readonly code?: ProblemCode;
}

/** The name of a file in messages. */
export const shownName = (file: string) => (file === '-' ? 'standard input' : file);

/**
 * Reads a text file that a user named; `-` is standard input. UTF-8 and UTF-16 may have a byte order mark.
 *
 * @throws Problem if it cannot be read
 */
export async function readText(file: string, input: Input, reporting: Reporting = {}): Promise<string> {
  return reported(file, reporting, async () => decoded(await bytesOf(file, input)));
}

/** The same, in UTF-8 without a byte order mark; other bytes stay as they are. */
export async function readBytes(file: string, input: Input, reporting: Reporting = {}): Promise<Uint8Array> {
  return reported(file, reporting, async () => {
    const bytes = await bytesOf(file, input);
    return markOf(bytes) === undefined ? bytes : Buffer.from(decoded(bytes));
  });
}

async function bytesOf(file: string, { readInput = async () => buffer(process.stdin) }: Input) {
  const bytes = file === '-' ? await readInput() : await readFile(file);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Byte order marks, in hexadecimal. PowerShell writes the first two. */
const marks = { fffe: 'UTF-16 LE', efbbbf: 'UTF-8', feff: 'UTF-16 BE' } as const;

function markOf(bytes: Buffer) {
  const start = bytes.toString('hex', 0, 3);
  return Object.entries(marks).find(([mark]) => start.startsWith(mark))?.[1];
}

function decoded(bytes: Buffer): string {
  const mark = markOf(bytes);
  if (mark === undefined || mark === 'UTF-8') return bytes.toString('utf8', mark === undefined ? 0 : 3);
  const even = bytes.subarray(2, bytes.length - (bytes.length % 2));
  return (mark === 'UTF-16 LE' ? even : Buffer.from(even).swap16()).toString('utf16le');
}

async function reported<Content>(
  file: string,
  { what = shownName(file), messages = {}, code = 'usage' }: Reporting,
  read: () => Promise<Content>,
): Promise<Content> {
  try {
    return await read();
  } catch (error) {
    const cause = codeOf(error);
    throw new Problem(code, `${what}: ${messages[cause] ?? `cannot be read (${cause})`}`);
  }
}

/**
 * Loads a fixture from a file, or the built-in one; `-` is standard input.
 *
 * @throws Problem with code `fixture`, a line for each problem with its place in the file
 */
export async function loadFixture(
  file: string | undefined,
  env: Environment,
  input: Input = {},
): Promise<Fixture> {
  // A test validates the built-in fixture, so starting stays fast.
  if (file === undefined) return builtIn as Fixture;
  const text = await readText(file, input, { messages: fixtureMessages, code: 'fixture' });
  return readFixture(text, shownName(file), env);
}

const tooLarge = 'is too large: the limit is 512 MB';
const fixtureMessages = {
  ENOENT: 'there is no such file; `npx ib-conformance init` writes a first one',
  EISDIR: 'is a folder, not a fixture file',
  EACCES: 'cannot be read: check its permissions',
  ERR_STRING_TOO_LONG: tooLarge,
  ERR_FS_FILE_TOO_LARGE: tooLarge,
};
