import { fstatSync } from 'node:fs';
import { isatty } from 'node:tty';
import { Problem } from '../schemas/problem.ts';
import { wantsColor, type Sink } from './color.ts';
import { CONFIG_FILE } from './config.ts';
import { exitCodes, explain } from './exit-codes.ts';
import { onSignals } from './signals.ts';

/**
 * Runs a command line and returns the exit code. The first SIGINT, SIGTERM or SIGHUP asks for an end,
 * the second one ends the process at once.
 */
export async function main(argv: readonly string[]): Promise<number> {
  // This does not wait for anything: whoever signals twice wants just that.
  // oxlint-disable-next-line unicorn/no-process-exit
  const signal = onSignals(process, () => process.exit(exitCodes.interrupted[0]));
  // What nobody waited for must not look like a verdict, which an exit code of 1 would.
  process.on('uncaughtException', (error) => {
    writeError(`${explain(error).message}\n`);
    // oxlint-disable-next-line unicorn/no-process-exit
    process.exit(exitCodes.bug[0]);
  });
  // Whoever writes is told; where messages cannot be written, the exit code still tells.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  const { env, stdout, stderr } = process;
  try {
    // Loaded last: a signal that comes meanwhile is not lost.
    const { commandLine } = await import('./command-line.ts');
    return await commandLine(argv, {
      env,
      configFile: CONFIG_FILE,
      signal,
      print,
      // oxlint-disable-next-line unicorn/no-process-exit
      leave: (code) => process.exit(code),
      writeError,
      // Standard input is not opened for commands that do not read it.
      ...(isatty(0) && stderr.isTTY
        ? {
            converse: async () =>
              (await import('./init/conversation.ts')).conversation(process.stdin, stderr, signal),
          }
        : {}),
      isTerminal: stderr.isTTY,
      terminal: {
        color: wantsColor(env, sinkOf(stdout)),
        width: Math.min(200, Math.max(60, stdout.columns ?? 100)),
      },
    });
  } catch (error) {
    const { code, message } = explain(error);
    writeError(`${message}\n`);
    return code;
  }
}

function sinkOf({ isTTY, fd }: NodeJS.WriteStream & { readonly fd: number }): Sink {
  if (isTTY) return 'terminal';
  return fstatSync(fd).isFile() ? 'file' : 'pipe';
}

/** Standard output; resolves when the text is out. */
async function print(text: string): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
    });
  } catch (error) {
    throw unwritable(error as NodeJS.ErrnoException);
  }
}

/** Codes of a pipe that has lost its reader, at the first write and at those after it. */
const closed: ReadonlySet<string> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

function unwritable({ code = '', message }: NodeJS.ErrnoException): Problem {
  if (closed.has(code))
    return new Problem(
      'closed',
      'standard output cannot be written: its reader closed it before everything was written',
    );
  const why = code === 'ENOSPC' ? 'the disk is full' : message;
  return new Problem('usage', `standard output cannot be written: ${why}`);
}

/** A full disk behind standard error must not change the exit code. */
function writeError(text: string): void {
  try {
    process.stderr.write(text);
  } catch {
    // Nobody is left to tell.
  }
}
