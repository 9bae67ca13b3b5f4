import { endpoints } from '../../schemas/endpoints.ts';
import type { UnreadCall } from '../behaviour.ts';
import { orKey } from './or-key.ts';
import { both, deposit, rowsOf, user, type Faults } from './rows.ts';

const inQuery = (key: string, { parameters, endpoint }: UnreadCall) =>
  parameters.some(([name, value]) => name !== endpoints[endpoint].parameter && value.includes(key));
const inCookie = (key: string, { request }: UnreadCall) => request.headers.cookie?.includes(key) ?? false;
const inBody = (key: string, { request }: UnreadCall) => request.body?.includes(key) ?? false;
const inOwnHeader = (key: string, { request: { headers } }: UnreadCall) =>
  ['x-api-key', 'api-key', 'x-auth-token'].some((name) => headers[name]?.includes(key));

/** Keys that are let in although they are not in the header (auth, header-only). */
export const keyPlaceFaults: Faults = {
  'key-in-query-of-user-status': {
    what: 'user-status accepts the key in the query.',
    fails: rowsOf('auth', user, 'header-only'),
    change: orKey(user, inQuery),
  },
  'key-in-query-of-deposit-check': {
    what: 'deposit-check accepts the key in the query.',
    fails: rowsOf('auth', deposit, 'header-only'),
    change: orKey(deposit, inQuery),
  },
  'key-in-cookie': {
    what: 'The key is accepted in a cookie.',
    fails: rowsOf('auth', both, 'header-only'),
    change: orKey(both, inCookie),
  },
  'key-in-x-api-key': {
    what: 'The key is accepted in X-API-Key.',
    fails: rowsOf('auth', both, 'header-only'),
    change: orKey(both, inOwnHeader),
  },
  'key-in-body': {
    what: 'The key is accepted in a request body.',
    fails: rowsOf('auth', both, 'header-only'),
    change: orKey(both, inBody),
  },
};
