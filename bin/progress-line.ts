import { renderProgress } from '../reports/index.ts';
import type { Progress, RunOptions } from '../suites/index.ts';
import type { CliContext } from './cli-context.ts';

/** Says at once that a signal was heard, for what is under way takes its time. */
export function announceEnd(context: CliContext): void {
  const { signal, writeError } = context;
  const announce = () => {
    clearLine(context);
    writeError(
      `ib-conformance: interrupted${bySignal(signal)}; what was found so far is reported, a second signal ends at once\n`,
    );
  };
  if (signal.aborted) announce();
  else signal.addEventListener('abort', announce, { once: true });
}

/** ` by SIGTERM`, where that is what ended it. */
const bySignal = ({ reason }: AbortSignal) => (typeof reason === 'string' ? ` by ${reason}` : '');

const clearToEndOfLine = '\u001b[K';

/** A line that shows how far the run has come, for whoever watches. */
export function progressLine({
  isTerminal,
  writeError,
  terminal,
}: CliContext): Pick<RunOptions, 'onProgress'> {
  if (!isTerminal) return {};
  let last = 0;
  return {
    onProgress: (progress: Progress) => {
      const now = Date.now();
      if (now - last < 50) return;
      last = now;
      writeError(`\r${renderProgress(progress, terminal.width)}${clearToEndOfLine}`);
    },
  };
}

/** Takes that line away. */
export function clearLine({ isTerminal, writeError }: CliContext): void {
  if (isTerminal) writeError(`\r${clearToEndOfLine}`);
}
