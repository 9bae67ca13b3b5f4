import { once, setMaxListeners } from 'node:events';
import { commandLine } from './command-line.ts';
import { exitCodes, explain } from './exit-codes.ts';

/**
 * Runs a command line and returns the exit code. The first SIGINT or SIGTERM asks for an end, the
 * second one ends the process at once.
 */
export async function main(argv: readonly string[]): Promise<number> {
  const stop = new AbortController();
  // Each wait of a run listens to it.
  setMaxListeners(Number.POSITIVE_INFINITY, stop.signal);
  const onSignal = () => stop.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  process.stdout.on('error', ignoreClosedPipe);
  const { env, stdout, stderr } = process;
  try {
    return await commandLine(argv, {
      env,
      signal: stop.signal,
      print: async (text) => {
        if (!stdout.write(text)) await once(stdout, 'drain');
      },
      writeError: (text) => void stderr.write(text),
      isTerminal: stderr.isTTY,
      terminal: {
        color: wantsColor(env, stdout.isTTY),
        width: Math.min(200, Math.max(60, stdout.columns ?? 100)),
      },
    });
  } catch (error) {
    const { code, message } = explain(error);
    stderr.write(`${message}\n`);
    return code;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
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
