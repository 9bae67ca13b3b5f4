import { renderLine } from '../reports/index.ts';
import { createTranscriber, type RunHeader, type RunOptions } from '../suites/index.ts';
import type { CliContext } from './cli-context.ts';
import { openTranscript, printTranscript } from './transcript-file.ts';

/** The transcripts that were asked for, open and waiting for the run. */
export interface Transcription {
  /** Has the run written down whose header this is. */
  readonly of: (header: RunHeader) => Pick<RunOptions, 'onEvent'>;
  /** @throws Problem with code `usage` where one could not be written to its end */
  readonly close: () => Promise<void>;
}

/**
 * Opens the transcripts that were asked for.
 *
 * @param files to write; undefined stands for standard output
 * @throws Problem with code `usage` where one cannot be opened
 */
export function openTranscripts(
  files: readonly (string | undefined)[],
  { print, writeError }: CliContext,
): Transcription {
  const outputs = files.map((file) =>
    file === undefined
      ? printTranscript(print)
      : openTranscript(file, ({ message }) => writeError(`ib-conformance: ${message}\n`)),
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
