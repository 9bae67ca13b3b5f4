import { commandLine } from './command-line.ts';
import { explain } from './exit-codes.ts';
import type { Surroundings } from './surroundings.ts';

/** For tests: what a command line came to in this process, and what it would have printed. */
export interface Called {
  readonly code: number;
  /** Standard output. */
  readonly output: string;
  /** Standard error, but for the message that the command ended with. */
  readonly aside: string;
  /** That message; empty where it ended by itself. */
  readonly error: string;
}

/** Runs a command line; what of its surroundings does not matter to a test is that of a CI log. */
export async function called(
  argv: readonly string[],
  surroundings: Partial<Surroundings> = {},
): Promise<Called> {
  let [output, aside] = ['', ''];
  try {
    const code = await commandLine(argv, {
      env: {},
      signal: new AbortController().signal,
      print: async (text) => void (output += text),
      writeError: (text) => void (aside += text),
      isTerminal: false,
      terminal: { color: false, width: 100 },
      ...surroundings,
    });
    return { code, output, aside, error: '' };
  } catch (problem) {
    const { code, message } = explain(problem);
    return { code, output, aside, error: message };
  }
}
