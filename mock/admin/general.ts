import { resetAll, resetWorld } from '../session.ts';
import { ok, type Route } from './route.ts';
import packageJson from '../../package.json' with { type: 'json' };

/** Whether it lives, what it is, and the way back to the beginning. */
export const generalRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/health',
    summary: 'Says that the mock is up. Open to all, on every host.',
    isForAll: true,
    isOpen: true,
    handle: () => ok({ status: 'healthy' }),
  },
  {
    method: 'GET',
    path: '/version',
    summary: 'Name and version of the mock.',
    isForAll: true,
    handle: () => ok({ name: packageJson.name, version: packageJson.version }),
  },
  {
    method: 'POST',
    path: '/reset',
    summary:
      'Everything as the fixture has it: data, clock, limiters, faults, journal. Of one world with ?world=, of all without.',
    handle: (session, { world, query }) => {
      if (query.has('world')) resetWorld(session, world);
      else resetAll(session);
      return ok({ reset: query.has('world') ? world : 'all' });
    },
  },
  {
    method: 'GET',
    path: '/worlds',
    summary: 'Names of the worlds that there are beside the main one, the least recently used first.',
    isForAll: true,
    handle: ({ sandboxes }) => ok({ worlds: [...sandboxes.keys()] }),
  },
];
