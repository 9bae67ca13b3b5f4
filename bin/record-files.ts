import { closeSync, createReadStream, openSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { renderLine } from '../reports/index.ts';
import validate from '../schemas/generated/transcript.cjs';
import type { RunRecord, TranscriptLine } from '../schemas/generated/types.ts';
import { Problem } from '../schemas/problem.ts';
import { readRecord } from '../schemas/records.ts';
import { createTranscriber, type RunHeader, type RunOptions } from '../suites/index.ts';
import type { CliContext } from './cli-context.ts';
import { unwritable } from './output-files.ts';
import { version } from './version.ts';

/** @throws Problem with code `usage`: what is wrong, and where in the file */
export async function loadRecord(file: string): Promise<RunRecord> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new Problem('usage', `${file}: ${reasons[code] ?? `cannot be read: ${message}`}`);
  }
  return readRecord(text, file, version);
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file; `verify --report json=file` writes a run record',
  EISDIR: 'is a folder, not a run record',
  EACCES: 'may not be read: check its permissions',
};

/**
 * Reads a transcript. A run that was killed may leave half a line at the end, which is ignored.
 *
 * @throws Problem with code `usage`
 */
export async function loadTranscript(file: string): Promise<readonly TranscriptLine[]> {
  const lines: TranscriptLine[] = [];
  let broken: number | undefined;
  let number = 0;
  try {
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      number++;
      if (text === '') continue;
      if (broken !== undefined) throw wrongLine(file, broken, 'is not JSON');
      let line: unknown;
      try {
        line = JSON.parse(text);
      } catch {
        broken = number;
        continue;
      }
      if (!validate(line)) throw wrongLine(file, number, problemOf(line));
      lines.push(line);
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem('usage', `${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  if (lines.length > 0) return lines;
  throw new Problem(
    'usage',
    `${file}: is empty, or no transcript (\`verify --report ndjson=file\` writes one)`,
  );
}

const wrongLine = (file: string, number: number, what: string) =>
  new Problem(
    'usage',
    `${file}:${number}: ${what}; a transcript is what \`verify --report ndjson=file\` writes`,
  );

/** The first problem that the schema finds in a line. */
function problemOf(line: unknown): string {
  const format = (line as { readonly format?: unknown } | null)?.format;
  if (typeof format === 'string' && format !== 'ib-conformance/transcript/1')
    return `is of the format ${format.slice(0, 60)}, which this version does not know`;
  const [error] = validate.errors ?? [];
  return `${error?.instancePath ?? ''} ${error?.message ?? 'is no line of a transcript'}`.trim();
}

/** The requested transcripts, open for a run. */
export interface Transcripts {
  /** Makes the run with this header write them. */
  readonly of: (header: RunHeader) => Pick<RunOptions, 'onEvent'>;
  /** @throws Problem with code `usage` if one could not be written to its end */
  readonly close: () => Promise<void>;
}

/**
 * Opens transcripts.
 *
 * @param files undefined stands for standard output
 * @throws Problem with code `usage` if one cannot be opened
 */
export function openTranscripts(
  files: readonly (string | undefined)[],
  { print, writeError }: CliContext,
): Transcripts {
  const outputs = files.map((file) =>
    file === undefined
      ? printed(print)
      : opened(file, ({ message }) => writeError(`ib-conformance: ${message}\n`)),
  );
  return {
    of: (header) => {
      if (outputs.length === 0) return {};
      const onEvent = createTranscriber(header, (line) => {
        const text = renderLine(line);
        for (const output of outputs) output.write(text);
      });
      return { onEvent };
    },
    close: async () => {
      for (const output of outputs) await output.close();
    },
  };
}

interface TranscriptOutput {
  readonly write: (text: string) => void;
  readonly close: () => Promise<void>;
}

/** Text of this length is written at once. */
const MAX_BUFFERED = 2 ** 16;

/**
 * Writes to a file once per turn of the event loop, so that a run that is killed leaves what it found.
 *
 * @param onFailure is called once; the rest of the transcript is missing then
 */
function opened(file: string, onFailure: (problem: Problem) => void): TranscriptOutput {
  let buffered = '';
  let timer: NodeJS.Immediate | undefined;
  let failure: Problem | undefined;
  let descriptor: number;
  try {
    descriptor = openSync(file, 'w');
  } catch (error) {
    throw unwritable(file, 'the transcript', error);
  }
  const flush = () => {
    clearImmediate(timer);
    timer = undefined;
    const bytes = Buffer.from(buffered);
    buffered = '';
    if (failure !== undefined) return;
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    } catch (error) {
      failure = unwritable(file, 'the transcript', error) as Problem;
      onFailure(failure);
    }
  };
  return {
    write: (text) => {
      buffered += text;
      if (buffered.length > MAX_BUFFERED) flush();
      else timer ??= setImmediate(flush);
    },
    close: async () => {
      flush();
      closeSync(descriptor);
      if (failure !== undefined) throw failure;
    },
  };
}

function printed(print: CliContext['print']): TranscriptOutput {
  let last: Promise<void> = Promise.resolve();
  return {
    write: (text) => {
      last = last.then(() => print(text));
      // `close` reports the error.
      last.catch(() => undefined);
    },
    close: () => last,
  };
}
