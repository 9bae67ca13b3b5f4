import { ask, Refused } from './admin.ts';
import { readEvents, type StreamEvent } from './event-stream.ts';

/** How long (ms) to wait before the mock is asked again. */
const AGAIN = 1_000;

interface Watching {
  /** Connected, or not any more. */
  readonly onConnection: (isConnected: boolean) => void;
  readonly onEvent: (event: StreamEvent) => void;
  /** The mock wants a token. */
  readonly onRefused: (refused: Refused) => void;
}

/**
 * Watches what happens in the mock, and connects again whenever it has to. A page that nobody sees
 * does not watch: browsers allow few connections to one server.
 */
export async function watch({ onConnection, onEvent, onRefused }: Watching): Promise<void> {
  for (;;) {
    await visible();
    const ending = new AbortController();
    const onHidden = () => document.hidden && ending.abort();
    document.addEventListener('visibilitychange', onHidden);
    try {
      const { body } = await ask('GET', 'events', undefined, ending.signal);
      onConnection(true);
      if (body !== null) await readEvents(body, onEvent);
    } catch (error) {
      if (error instanceof Refused) return onRefused(error);
    }
    document.removeEventListener('visibilitychange', onHidden);
    onConnection(false);
    if (!document.hidden) await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
}

async function visible(): Promise<void> {
  while (document.hidden)
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
}
