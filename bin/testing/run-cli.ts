import type { CliContext } from '../cli-context.ts';
import { commandLine } from '../command-line.ts';
import { describeError } from '../exit-codes.ts';

export interface CliResult {
  readonly code: number;
  readonly output: string;
  /** Standard error without the final error message. */
  readonly stderr: string;
  /** The final error message; empty without an error. */
  readonly error: string;
}

/** Runs a command line (words, or a text split at spaces) in this process. By default, without a terminal. */
export async function runCli(
  line: string | readonly string[],
  context: Partial<CliContext> = {},
): Promise<CliResult> {
  const argv = typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line;
  let [output, stderr] = ['', ''];
  try {
    const code = await commandLine(argv, {
      env: {},
      signal: new AbortController().signal,
      print: async (text) => void (output += text),
      writeError: (text) => void (stderr += text),
      isTerminal: false,
      terminal: { color: false, width: 100 },
      ...context,
    });
    return { code, output, stderr, error: '' };
  } catch (problem) {
    const { code, message } = describeError(problem);
    return { code, output, stderr, error: message };
  }
}
