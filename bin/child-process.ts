import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

/** For tests: how a process ended, and all that it said. */
export async function ended(child: ChildProcess) {
  const [printed, complaint, [code, signal]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  return { code: code ?? signal, printed, complaint };
}

/**
 * For tests: the first line that a process prints, with what it will have complained of in the end.
 *
 * @throws Error with that where it ends before
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
