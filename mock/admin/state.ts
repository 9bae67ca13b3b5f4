import { changeState } from '../provider-state.ts';
import { sandboxNamed, wrongAt } from '../session.ts';
import type { Route } from './route.ts';

/** Where a run of the suites asks for another state, as a provider's tests do by Pact's convention. */
export const stateRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/state',
    summary: 'Brings a provider state about, or takes it back.',
    body: {
      type: 'object',
      required: ['state'],
      properties: {
        state: { enum: ['key revoked', 'deposit executed'] },
        params: { type: 'object' },
        action: { enum: ['setup', 'teardown'] },
      },
    },
    handle: (session, { world, body }) => {
      const problem = changeState(sandboxNamed(session, world).world, body);
      if (problem !== undefined) throw wrongAt('', problem);
      return { status: 204 };
    },
  },
];
