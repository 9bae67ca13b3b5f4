import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import type { CliContext } from '../../cli-context.ts';
import { commandLine } from '../../command-line.ts';
import { describeError } from '../../exit-codes.ts';

/** A process without a terminal, variables and signals, whose output nobody reads. */
export const quietContext: CliContext = {
  env: {},
  signal: new AbortController().signal,
  print: () => Promise.resolve(),
  writeError: () => undefined,
  isTerminal: false,
  terminal: { color: false, width: 100 },
};

/**
 * Runs a command line (words, or a text split at spaces) in this process. By default, without a terminal.
 *
 * @returns `error`: the final error message, or an empty text; `stderr`: standard error, with that message at its end
 */
export async function runCli(line: string | readonly string[], context: Partial<CliContext> = {}) {
  const argv = typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line;
  let [output, stderr] = ['', ''];
  try {
    const code = await commandLine(argv, {
      ...quietContext,
      print: async (text) => void (output += text),
      writeError: (text) => void (stderr += text),
      ...context,
    });
    return { code, output, stderr, error: '' };
  } catch (problem) {
    const { code, message } = describeError(problem);
    return { code, output, stderr: stderr + message, error: message };
  }
}

/**
 * Runs a command line that must end with this exit code. Its error, or else its output, must match each pattern.
 * Returns what `runCli` does.
 */
export async function endsSaying(
  line: string | readonly string[],
  expected: number,
  patterns: RegExp | readonly RegExp[] = [],
  context: Partial<CliContext> = {},
) {
  const run = await runCli(line, context);
  for (const pattern of [patterns].flat()) assert.match(run.error === '' ? run.output : run.error, pattern);
  assert.equal(run.code, expected, run.output + run.stderr);
  return run;
}

/**
 * Registers a test for each command line: it ends with a message without a stack, and without output.
 *
 * @param command the first words of every line
 * @param refusals the other words, a pattern of the message, and the exit code if it is not 2
 */
export function testRefusals(
  command: string,
  refusals: readonly (readonly [words: string, pattern: RegExp, code?: number])[],
): void {
  for (const [words, pattern, expected = 2] of refusals)
    test(`refused: ${command} ${words.replaceAll(tmpdir(), '…')}`, async () => {
      const { code, output, error } = await runCli(`${command} ${words}`);
      assert.match(error, pattern);
      assert.deepEqual([code, output], [expected, '']);
      assert.doesNotMatch(error, /\n\s+at /);
    });
}
