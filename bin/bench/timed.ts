import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import type { Bench } from './part.ts';

/** What a command took, from the start of its process to its exit. */
export interface Timed {
  readonly seconds: number;
  /** Processor time, of the user and the system. */
  readonly processorSeconds: number;
  /** The most memory that was resident, in MB (2^20 bytes). */
  readonly peakMb: number;
  /** What it printed. */
  readonly output: string;
}

/**
 * Runs a command under GNU time (Debian's package `time`).
 *
 * @throws Error where it does not end with 0
 */
export async function timed({ folder, signal }: Bench, command: string, argv: readonly string[]) {
  const usage = join(folder, 'usage.txt');
  const begun = performance.now();
  const child = spawn(
    '/usr/bin/time',
    ['--format=%U %S %M', `--output=${usage}`, '--quiet', command, ...argv],
    { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], signal },
  );
  let seconds = Number.NaN;
  child.once('exit', () => {
    seconds = (performance.now() - begun) / 1000;
  });
  const [output, complaint, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  if (code !== 0) throw new Error(`${command} ${argv.join(' ')}: ended with ${code}\n${output}${complaint}`);
  return { seconds, ...readUsage(readFileSync(usage, 'utf8')), output } satisfies Timed;
}

/** Reads what GNU time writes by `%U %S %M`: seconds, seconds, and kilobytes. */
export function readUsage(line: string): Pick<Timed, 'processorSeconds' | 'peakMb'> {
  const [user, system, kilobytes] = line.trim().split(' ').map(Number);
  if (!Number.isFinite(kilobytes)) throw new Error(`time: no figures: ${line}`);
  return { processorSeconds: user! + system!, peakMb: kilobytes! / 1024 };
}
