import { fstatSync } from 'node:fs';
import { isatty } from 'node:tty';
import { Problem } from '../schemas/problem.ts';
import { findConfig, type CliContext } from './cli-context.ts';
import { exitCodes, describeError } from './exit-codes.ts';

/**
 * Runs the command line of the process and returns the exit code. The first SIGINT, SIGTERM or SIGHUP aborts
 * the command, the second one ends the process at once.
 */
export async function main(argv: readonly string[]): Promise<number> {
  // On a second signal, nothing is awaited.
  // oxlint-disable-next-line unicorn/no-process-exit
  const leave = (code: number) => process.exit(code);
  const signal = abortOnSignals(process, () => leave(exitCodes.interrupted[0]));
  const codeOf = (error: unknown) => {
    const { code, message } = describeError(error);
    if (message !== '') writeError(`${message}\n`);
    return code;
  };
  // Node would exit with 1, which means nonconformant.
  process.on('uncaughtException', (error) => leave(codeOf(error)));
  // `print` reports its errors; if messages cannot be written, the exit code is enough.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  const { env, stdout, stderr } = process;
  try {
    // Imported after the listeners are set, so that no signal is lost.
    const { commandLine } = await import('./command-line.ts');
    return await commandLine(argv, {
      env,
      configFile: findConfig(),
      signal,
      print,
      leave,
      writeError,
      // Loaded only by commands that ask questions, because it opens standard input.
      ...(isatty(0) && stderr.isTTY
        ? { prompter: async () => (await import('./init/prompter.ts')).terminalPrompter(signal) }
        : {}),
      // A dumb terminal cannot clear a line.
      isTerminal: stderr.isTTY && env['TERM'] !== 'dumb',
      terminal: {
        color: wantsColor(env, outputKindOf(stdout)),
        width: widthOf(env, stdout.columns),
      },
    });
  } catch (error) {
    return codeOf(error);
  }
}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Returns an AbortSignal that aborts on the first signal, with its name as the reason. The listeners stay,
 * because process 1 of a container receives only signals that it handles.
 *
 * @param end called on the second signal
 */
export function abortOnSignals(
  process: { on(name: string, listener: (name: string) => void): unknown },
  end: () => void,
): AbortSignal {
  const stop = new AbortController();
  const listener = (name: string) => (stop.signal.aborted ? end() : stop.abort(name));
  for (const name of stopSignals) process.on(name, listener);
  return stop.signal;
}

/** Variables set by CI services whose logs support colour. */
const colorfulLogs = ['GITHUB_ACTIONS', 'GITEA_ACTIONS', 'GITLAB_CI', 'BUILDKITE', 'CIRCLECI'] as const;

/** COLUMNS decides if it is a number, then the terminal. Reports have 60 to 200 columns. */
export function widthOf({ COLUMNS = '' }: CliContext['env'], columns = 100): number {
  const wanted = /^\d+$/.test(COLUMNS) ? Number(COLUMNS) : columns;
  return Math.min(200, Math.max(60, wanted));
}

export type OutputKind = 'terminal' | 'file' | 'pipe';

/**
 * FORCE_COLOR decides if it is set (`0` and `false` mean no), then NO_COLOR (https://no-color.org) and
 * dumb terminals. By default, terminals and known CI logs get colour.
 */
export function wantsColor(env: CliContext['env'], kind: OutputKind): boolean {
  const force = env['FORCE_COLOR'] ?? '';
  if (force !== '') return force !== '0' && force !== 'false';
  if ((env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb') return false;
  return kind === 'terminal' || (kind === 'pipe' && colorfulLogs.some((name) => (env[name] ?? '') !== ''));
}

function outputKindOf({ isTTY, fd }: NodeJS.WriteStream & { readonly fd: number }): OutputKind {
  if (isTTY) return 'terminal';
  return fstatSync(fd).isFile() ? 'file' : 'pipe';
}

/** Writes to standard output; resolves after the text is written. */
async function print(text: string): Promise<void> {
  const error = await new Promise<NodeJS.ErrnoException | null | undefined>((resolve) => {
    process.stdout.write(text, resolve);
  });
  if (!error) return;
  const { code = '', message } = error;
  // The codes of the first and of later writes to a pipe without a reader.
  const isClosed = code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED';
  const why = code === 'ENOSPC' ? 'the disk is full' : message;
  throw new Problem(isClosed ? 'closed' : 'usage', `standard output cannot be written: ${why}`);
}

/** Writes to standard error. A full disk must not change the exit code. */
function writeError(text: string): void {
  try {
    process.stderr.write(text);
  } catch {
    // There is no other output for this error.
  }
}
