import { closeSync, createReadStream, openSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { renderLine } from '../reports/index.ts';
import validate from '../schemas/generated/transcript.cjs';
import type { RunRecord, TranscriptLine } from '../schemas/generated/types.ts';
import { codeOf, Problem, wrongUsage } from '../schemas/problem.ts';
import { readRecord } from '../schemas/records.ts';
import { createTranscriber, type RunHeader } from '../suites/index.ts';
import type { CliContext } from './cli-context.ts';
import { readText } from './fixture-file.ts';
import { writeProblem } from './output-files.ts';
import { version } from './version.ts';

/** @throws Problem with code `usage`, a line for each problem with its place in the file */
export async function loadRecord(file: string): Promise<RunRecord> {
  return readRecord(await readText(file, file, messages), file, version);
}

const messages = {
  ENOENT: 'there is no such file; `verify --report json=file` writes a run record',
  EISDIR: 'is a folder, not a run record',
  EACCES: 'cannot be read: check its permissions',
};

/**
 * Reads a transcript. Ignores an incomplete last line, which a killed run may leave.
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
      if (text.includes('"ib-conformance/run/')) throw isRecord(file);
      if (broken !== undefined) throw invalidLine(file, broken, 'is not JSON');
      let line: unknown;
      try {
        line = JSON.parse(text);
      } catch {
        broken = number;
        continue;
      }
      if (!validate(line)) throw invalidLine(file, number, problemOf(line));
      lines.push(line);
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw wrongUsage(`${file}: cannot be read (${codeOf(error)})`);
  }
  if (lines.length > 0) return lines;
  throw wrongUsage(`${file}: is empty or not a transcript (\`verify --report ndjson=file\` writes one)`);
}

const isRecord = (file: string) =>
  wrongUsage(
    `${file}: is a run record, which is judged already: \`ib-conformance report ${file}\` shows it; judge reads what \`verify --report ndjson=file\` writes`,
  );

const invalidLine = (file: string, number: number, what: string) =>
  wrongUsage(`${file}:${number}: ${what}; a transcript is what \`verify --report ndjson=file\` writes`);

function problemOf(line: unknown): string {
  const format = (line as { readonly format?: unknown } | null)?.format;
  if (typeof format === 'string' && format !== 'ib-conformance/transcript/1')
    return `has the format ${format.slice(0, 60)}, which this version does not know`;
  const [error] = validate.errors ?? [];
  return `${error?.instancePath ?? ''} ${error?.message ?? 'is not a line of a transcript'}`.trim();
}

/** The open transcript files of a run. */
export interface Transcripts extends ReturnType<typeof openTranscripts> {}

/**
 * Opens transcript files.
 *
 * @param files undefined means standard output
 * @throws Problem with code `usage` if one cannot be opened
 */
export function openTranscripts(files: readonly (string | undefined)[], { print, writeError }: CliContext) {
  const outputs = files.map((file) => (file === undefined ? toPrint(print) : toFile(file, writeError)));
  const write = (line: TranscriptLine) => {
    const text = renderLine(line);
    for (const output of outputs) output.write(text);
  };
  return {
    /** Returns the run option that writes the transcripts. */
    of: (header: RunHeader) => (outputs.length === 0 ? {} : { onEvent: createTranscriber(header, write) }),
    /** @throws Problem with code `usage` if a transcript is incomplete */
    close: async () => {
      for (const output of outputs) await output.close();
    },
  };
}

/** Writes each line at once, so that a killed run leaves its results. Prints the first error at once. */
function toFile(file: string, writeError: CliContext['writeError']) {
  let failure: Error | undefined;
  let descriptor: number;
  try {
    descriptor = openSync(file, 'w');
  } catch (error) {
    throw writeProblem(file, 'the transcript', error);
  }
  return {
    write: (text: string) => {
      if (failure !== undefined) return;
      try {
        writeFileSync(descriptor, text);
      } catch (error) {
        failure = writeProblem(file, 'the transcript', error) as Error;
        writeError(`ib-conformance: ${failure.message}\n`);
      }
    },
    close: async () => {
      closeSync(descriptor);
      if (failure !== undefined) throw failure;
    },
  };
}

function toPrint(print: CliContext['print']) {
  let last: Promise<void> = Promise.resolve();
  return {
    write: (text: string) => {
      last = last.then(() => print(text));
      // `close` reports the error.
      last.catch(() => undefined);
    },
    close: () => last,
  };
}
