import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

/** Waits for a process to exit. Returns its exit code or signal, and its output. */
export async function ended(child: ChildProcess) {
  const [printed, complaint, [code, signal]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  return { code: code ?? signal, printed, complaint };
}

/**
 * Waits for the first line of a process on standard output. `complaint` resolves to its standard error at exit.
 *
 * @throws Error with the standard error if the process exits before
 */
export async function begun(child: ChildProcess) {
  const complaint = text(child.stderr!);
  const line = await Promise.race([
    once(createInterface(child.stdout!), 'line').then(([first]) => String(first)),
    once(child, 'exit').then(async () => {
      throw new Error(`it ended before it printed a line: ${await complaint}`);
    }),
  ]);
  return { line, complaint };
}
