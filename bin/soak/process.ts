import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

/** A mock in a process of its own. */
export interface Child {
  readonly port: number;
  /** Resident memory in MB (2^20 bytes). */
  readonly residentMb: () => number;
  readonly descriptors: () => number;
  /** Ends it by SIGTERM; resolves with its exit code and what it wrote to standard error. */
  readonly end: () => Promise<{ readonly code: number | null; readonly complaints: string }>;
}

/**
 * Starts a mock, and reads its log as fast as it comes.
 *
 * @throws Error where it does not listen
 */
export async function startChild(command: string, argv: readonly string[]): Promise<Child> {
  const child = spawn(command, [...argv], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const complaints = text(child.stderr);
  const lines = createInterface({ input: child.stdout });
  const [first] = (await Promise.race([once(lines, 'line'), ended])) as [unknown];
  const [, port] = /^listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(String(first)) ?? [];
  if (port === undefined) throw new Error(`${command} ${argv.join(' ')}: ${await complaints}`);
  lines.close();
  child.stdout.resume();
  const file = (name: string) => `/proc/${child.pid}/${name}`;
  return {
    port: Number(port),
    residentMb: () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(file('status'), 'utf8'))![1]) / 1024,
    descriptors: () => readdirSync(file('fd')).length,
    end: async () => {
      child.kill('SIGTERM');
      await ended;
      return { code: child.exitCode, complaints: await complaints };
    },
  };
}
