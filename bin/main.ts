import { once } from 'node:events';
import { Problem } from '../schemas/problem.ts';
import { commandLine } from './command-line.ts';
import { exitCodes, explain } from './exit-codes.ts';
import { onSignals } from './signals.ts';

/**
 * Runs a command line and returns the exit code. The first SIGINT or SIGTERM asks for an end, the
 * second one ends the process at once.
 */
export async function main(argv: readonly string[]): Promise<number> {
  // This does not wait for anything: whoever signals twice wants just that.
  // oxlint-disable-next-line unicorn/no-process-exit
  const signal = onSignals(process, () => process.exit(exitCodes.interrupted[0]));
  process.stdout.on('error', ignoreClosedPipe);
  // Where messages cannot be written, the exit code still tells.
  process.stderr.on('error', () => undefined);
  const { env, stdout, stderr } = process;
  let drained: Promise<unknown> | undefined;
  try {
    return await commandLine(argv, {
      env,
      signal,
      print: async (text) => {
        try {
          // All that wait, wait for the same.
          if (!stdout.write(text))
            await (drained ??= once(stdout, 'drain').finally(() => (drained = undefined)));
        } catch (error) {
          throw unwritable(error as NodeJS.ErrnoException);
        }
      },
      // oxlint-disable-next-line unicorn/no-process-exit
      leave: (code) => process.exit(code),
      writeError,
      isTerminal: stderr.isTTY,
      terminal: {
        color: wantsColor(env, stdout.isTTY),
        width: Math.min(200, Math.max(60, stdout.columns ?? 100)),
      },
    });
  } catch (error) {
    const { code, message } = explain(error);
    writeError(`${message}\n`);
    return code;
  }
}

function unwritable({ code, message }: NodeJS.ErrnoException): Problem {
  const known: Readonly<Record<string, string>> = {
    EPIPE: 'its reader closed it before everything was written',
    ENOSPC: 'the disk is full',
  };
  return new Problem('usage', `standard output cannot be written: ${known[code ?? ''] ?? message}`);
}

/** A full disk behind standard error must not change the exit code. */
function writeError(text: string): void {
  try {
    process.stderr.write(text);
  } catch {
    // Nobody is left to tell.
  }
}

/** https://no-color.org, and FORCE_COLOR for logs that show it. */
function wantsColor(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  const force = env['FORCE_COLOR'] ?? '';
  return force === '' ? isTerminal && env['TERM'] !== 'dumb' : force !== '0';
}

/** `ib-conformance … | head` is no bug; any other failure to write is told. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  process.stderr.write(`ib-conformance: standard output cannot be written: ${error.message}\n`);
  process.exitCode = exitCodes.usage[0];
}
