import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** How long (ms) a file has to be left alone before it is read: editors write in several steps. */
const QUIET = 50;

/** Calls `changed` behind each change of a file, also when it is replaced, until the signal fires. */
export function watchFile(file: string, signal: AbortSignal, changed: () => void): void {
  let timer: NodeJS.Timeout | undefined;
  // The folder is watched: a file that is replaced is another file.
  const watcher = watch(dirname(file), { signal, persistent: false }, (_, name) => {
    if (name !== null && name !== basename(file)) return;
    clearTimeout(timer);
    timer = setTimeout(changed, QUIET);
  });
  signal.addEventListener('abort', () => clearTimeout(timer));
  // A folder that is gone has no more changes.
  watcher.on('error', () => clearTimeout(timer));
}
