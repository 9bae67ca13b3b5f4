import { clockRoutes } from './clock.ts';
import { depositRoutes } from './deposits.ts';
import { eventRoutes } from './events.ts';
import { faultRoutes } from './faults.ts';
import { fixtureRoutes } from './fixture.ts';
import { generalRoutes } from './general.ts';
import { interfaceRoutes } from './interface.ts';
import { keyRoutes } from './keys.ts';
import { limitRoutes } from './limits.ts';
import { magicValueRoutes } from './magic-values.ts';
import { openapiOf } from './openapi.ts';
import { pageRoutes } from './page.ts';
import { requestRoutes } from './requests.ts';
import { ok, type Route } from './route.ts';
import { scorecardRoutes } from './scorecard.ts';
import { stateRoutes } from './state.ts';
import { userRoutes } from './users.ts';

/** The whole admin API, in the order in which its description lists it. */
export const routes: readonly Route[] = [
  ...pageRoutes,
  ...generalRoutes,
  ...requestRoutes,
  ...scorecardRoutes,
  ...clockRoutes,
  ...depositRoutes,
  ...userRoutes,
  ...keyRoutes,
  ...limitRoutes,
  ...faultRoutes,
  ...fixtureRoutes,
  ...magicValueRoutes,
  ...interfaceRoutes,
  ...stateRoutes,
  ...eventRoutes,
  {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This description.',
    isForAll: true,
    handle: () => ok(openapiOf(routes)),
  },
];
