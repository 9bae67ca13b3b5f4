import { tell } from '../events.ts';
import { faults } from '../faults.ts';
import { sandboxNamed, serviceWith } from '../session.ts';
import { fieldsOf } from './fields.ts';
import { wrongAt } from '../refusal.ts';
import { ok, type Route } from './route.ts';

/** Deviations from the interface, one at a time. */
export const faultRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/faults',
    summary: 'The deviation that is on (null: none), and all that there are.',
    handle: (session, { world }) =>
      ok({
        fault: sandboxNamed(session, world).deviation?.id ?? null,
        faults: Object.entries(faults).map(([id, { what }]) => ({ id, what })),
      }),
  },
  {
    method: 'PUT',
    path: '/faults',
    summary: 'Switches a deviation on by its id, or off with null.',
    body: { type: 'object', required: ['fault'], properties: { fault: { type: ['string', 'null'] } } },
    handle: (session, { world, body }) => {
      const { fault } = fieldsOf(body, ['fault']);
      const found = typeof fault === 'string' && Object.hasOwn(faults, fault) ? faults[fault] : undefined;
      if (fault !== null && found === undefined)
        throw wrongAt('fault', 'has to be an id that GET /__admin/faults lists, or null');
      const sandbox = sandboxNamed(session, world);
      sandbox.deviation = found && { id: String(fault), change: found.change };
      sandbox.service = serviceWith(session.options, sandbox.deviation);
      const what = found ? `fault ${String(fault)} on` : 'no fault';
      tell(session.watchers, () => ({ kind: 'change', world, what }));
      return ok({ fault });
    },
  },
];
