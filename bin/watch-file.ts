import { statSync, unwatchFile, watch, watchFile as poll } from 'node:fs';
import { dirname } from 'node:path';

/** Editors write in several steps, so a file is read when it was left alone for so long. */
const QUIET_MS = 50;

/** Polling finds changes on mounted and network file systems, which send no events. */
const POLL_INTERVAL_MS = 1000;

/** Differs between two states of a file, whose links are followed; empty if there is no file. */
export function stampOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '' : [found.dev, found.ino, found.size, found.mtimeNs].join(' ');
}

/**
 * Calls `changed` after each change of a file, also if it or a folder above it is replaced, until the
 * signal fires.
 *
 * @param stamp of the file when it was last read
 * @param changed never runs twice at once; it is told whether another change came in the meantime
 */
export function watchFile(
  file: string,
  stamp: string,
  signal: AbortSignal,
  changed: (isOutOfDate: () => boolean) => Promise<void>,
): void {
  let seen = stamp;
  let timer: NodeJS.Timeout | undefined;
  const call = oneAtATime(changed);
  const look = () => {
    const now = stampOf(file);
    if (now === seen) return;
    seen = now;
    void call();
  };
  const soon = () => {
    clearTimeout(timer);
    if (!signal.aborted) timer = setTimeout(look, QUIET_MS);
  };
  poll(file, { interval: POLL_INTERVAL_MS, persistent: false }, soon);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    unwatchFile(file, soon);
  });
  try {
    // The folder is watched, since editors replace a file by another one.
    watch(dirname(file), { signal, persistent: false }, soon).on('error', () => undefined);
  } catch {
    // The system has no more watchers; polling is enough.
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
