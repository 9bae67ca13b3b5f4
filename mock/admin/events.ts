import type { Watcher } from '../session.ts';
import type { Route } from './route.ts';

/** What happens, as it happens. */
export const eventRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/events',
    summary:
      'Server-sent events: `request` with a journal entry, `clock` with what fell due, `change` with what was done. Of one world with ?world=, of all without.',
    handle: ({ watchers }, { world, query }) => ({
      status: 200,
      headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' },
      follow: (send) => {
        send(': watching\n\n');
        const watch: Watcher = ({ kind, ...event }) => {
          const where = 'entry' in event ? event.entry.world : event.world;
          if (query.has('world') && where !== world) return;
          send(`event: ${kind}\ndata: ${JSON.stringify('entry' in event ? event.entry : event)}\n\n`);
        };
        watchers.add(watch);
        return () => void watchers.delete(watch);
      },
    }),
  },
];
