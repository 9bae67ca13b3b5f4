import { statSync, unwatchFile, watch, watchFile as poll } from 'node:fs';
import { dirname } from 'node:path';

/** How long (ms) a file has to be left alone before it is read: editors write in several steps. */
const QUIET = 50;

/** How often (ms) it is looked at where the system tells nothing: mounted files, and folders of a network. */
const INTERVAL = 1000;

/** Tells one state of a file from another, through links; the empty text where there is none. */
export function stampOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '' : [found.dev, found.ino, found.size, found.mtimeNs].join(' ');
}

/**
 * Calls `changed` behind each change of a file, also when it or a folder above it is replaced, until
 * the signal fires.
 *
 * @param stamp of the file when it was last read
 */
export function watchFile(file: string, stamp: string, signal: AbortSignal, changed: () => void): void {
  let seen = stamp;
  let timer: NodeJS.Timeout | undefined;
  const look = () => {
    const now = stampOf(file);
    if (now === seen) return;
    seen = now;
    changed();
  };
  const soon = () => {
    clearTimeout(timer);
    if (!signal.aborted) timer = setTimeout(look, QUIET);
  };
  poll(file, { interval: INTERVAL, persistent: false }, soon);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    unwatchFile(file, soon);
  });
  try {
    // The folder is watched: a file that is replaced is another file.
    watch(dirname(file), { signal, persistent: false }, soon).on('error', () => undefined);
  } catch {
    // The system has no more watchers to give: the look at every interval is enough.
  }
  soon();
}

/**
 * Runs `act` on each call, but never twice at once: calls while it runs cause one more run after it.
 *
 * @param act never rejects; it may ask whether another run follows, so that its result is out of date
 */
export function oneAtATime(act: (isOutOfDate: () => boolean) => Promise<void>): () => Promise<void> {
  let isRunning = false;
  let isRequested = false;
  return async () => {
    isRequested = true;
    if (isRunning) return;
    isRunning = true;
    while (isRequested) {
      isRequested = false;
      await act(() => isRequested);
    }
    isRunning = false;
  };
}
