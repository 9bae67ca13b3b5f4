/** What asks a process to end: Ctrl-C, a supervisor, a terminal that is closed. */
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The part of a process that gets signals. */
interface Signalled {
  on(name: (typeof endings)[number], listener: (name: string) => void): unknown;
}

/**
 * Fires on the first signal that asks for an end, with its name as the reason; the second one ends the
 * process at once. The listeners stay: the first process of a container has no signals but those that
 * it listens to.
 *
 * @param end ends the process with the exit code of an interrupted one
 */
export function onSignals(signalled: Signalled, end: () => void): AbortSignal {
  const stop = new AbortController();
  const listener = (name: string) => (stop.signal.aborted ? end() : stop.abort(name));
  for (const name of endings) signalled.on(name, listener);
  return stop.signal;
}
