import type { CliContext } from '../cli-context.ts';
import { commandLine } from '../command-line.ts';
import { describeError } from '../exit-codes.ts';

/**
 * Runs a command line (words, or a text split at spaces) in this process. By default, without a terminal.
 *
 * @returns `error`: the final error message, or an empty text; `stderr`: standard error without it
 */
export async function runCli(line: string | readonly string[], context: Partial<CliContext> = {}) {
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
