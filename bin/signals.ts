/** The part of a process that gets signals. */
interface Signalled {
  on(name: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

/**
 * Fires on the first SIGINT or SIGTERM; the second one ends the process at once. The listeners stay:
 * the first process of a container has no signals but those that it listens to.
 *
 * @param end ends the process with the exit code of an interrupted one
 */
export function onSignals(signalled: Signalled, end: () => void): AbortSignal {
  const stop = new AbortController();
  const listener = () => (stop.signal.aborted ? end() : stop.abort());
  signalled.on('SIGINT', listener);
  signalled.on('SIGTERM', listener);
  return stop.signal;
}
