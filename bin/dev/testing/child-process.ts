import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

/** Waits for a process to exit. Returns its exit code or signal, and its output. */
export async function waitForExit(child: ChildProcess) {
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  return { code: code ?? signal, stdout, stderr };
}

/**
 * Waits for the first line of a process on standard output. `stderr` resolves to its standard error at exit.
 *
 * @throws Error with the standard error if the process exits before
 */
export async function waitForLine(child: ChildProcess) {
  const stderr = text(child.stderr!);
  const line = await Promise.race([
    once(createInterface(child.stdout!), 'line').then(([first]) => String(first)),
    once(child, 'exit').then(async () => {
      throw new Error(`it exited before it printed a line: ${await stderr}`);
    }),
  ]);
  return { line, stderr };
}
