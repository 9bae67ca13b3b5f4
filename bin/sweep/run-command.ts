import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { duration } from '../../reports/text.ts';
import { codeOf, wrongUsage } from '../../schemas/problem.ts';

/** How a command ended. */
export interface Ended {
  /** Whether it exited with 0. */
  readonly isGreen: boolean;
  /** Whether it took the maximum duration. */
  readonly isStopped: boolean;
  /** Such as `exit code 1`. */
  readonly ended: string;
  readonly durationMs: number;
}

const isWindows = process.platform === 'win32';
/** Time in ms for the command to end after SIGTERM. */
const GRACE_MS = 2000;
/** Node's maximum for a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL');
});

/** Sends a signal to a command and all its child processes. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  if (isWindows) spawnSync('taskkill', ['/pid', `${pid}`, '/t', '/f'], { stdio: 'ignore' });
  else
    try {
      process.kill(-pid, signal);
    } catch {
      // All processes have ended.
    }
}

/** Why a command cannot be started, with the fix. */
function startProblem(program: string, code: string): string {
  if (code !== 'ENOENT') return `${program}: cannot be started (${code})`;
  const why = `${program}: cannot be started (there is no such program)`;
  return /\s/.test(program) ? `${why}; drop the quotes: \`npx ib-conformance sweep -- ${program}\`` : why;
}

/**
 * Runs a program with its arguments, without a shell. At the end no child process of it is left.
 *
 * @param maxDuration in ms
 * @param onLine called for each line of output
 * @throws Problem with code `usage` if the program cannot be started
 */
export async function runCommand(
  command: readonly string[],
  maxDuration: number,
  env: NodeJS.ProcessEnv,
  stop: AbortSignal,
  onLine: (line: string) => void,
): Promise<Ended> {
  // On Windows npm is a batch file, which only cmd runs.
  const [program = '', ...words] = isWindows ? ['cmd', '/d', '/c', ...command] : command;
  const begun = performance.now();
  const child = spawn(program, words, { env, detached: !isWindows, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', onLine);
  const closed = new Promise((resolve) => child.once('close', resolve));
  const grace = () => sleep(GRACE_MS, undefined, { ref: false });
  const timeout = AbortSignal.timeout(Math.min(Math.ceil(maxDuration), MAX_TIMEOUT_MS));
  const end = () => {
    signalGroup(child, 'SIGTERM');
    void grace().then(() => running.has(child) && signalGroup(child, 'SIGKILL'));
  };
  for (const signal of [stop, timeout]) signal.addEventListener('abort', end);
  if (stop.aborted) end();
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    const isStopped = timeout.aborted;
    // Remaining child processes may keep the output open.
    signalGroup(child, 'SIGKILL');
    await Promise.race([closed, grace()]);
    return {
      isGreen: code === 0 && !isStopped,
      isStopped,
      ended: isStopped ? `stopped after ${duration(maxDuration)}` : (signal ?? `exit code ${code}`),
      durationMs: Math.round(performance.now() - begun),
    };
  } catch (error) {
    throw wrongUsage(startProblem(program, codeOf(error)));
  } finally {
    running.delete(child);
    for (const signal of [stop, timeout]) signal.removeEventListener('abort', end);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}
