import type { Endpoint } from '../../schemas/endpoints.ts';
import { answerWith } from '../change.ts';
import { faultsOf } from './named-errors.ts';
import { errorRows, noServerErrors, rowsOf, type Fault, type Faults } from './rows.ts';

const never429: Readonly<Record<Endpoint, readonly string[]>> = {
  'user-status': rowsOf('rate-limit', ['user-status'], 'failed-lookups'),
  'deposit-check': rowsOf('rate-limit', ['deposit-check'], 'requests'),
};

/** Errors with another status and their own body: endpoint, right status, wrong status. */
const wrongStatuses: readonly (readonly [Endpoint, number, number])[] = [
  ['user-status', 400, 422],
  ['user-status', 400, 200],
  ['user-status', 401, 403],
  ['user-status', 401, 400],
  ['user-status', 429, 503],
  ['user-status', 429, 403],
  ['deposit-check', 400, 422],
  ['deposit-check', 400, 404],
  ['deposit-check', 401, 403],
  ['deposit-check', 401, 200],
  ['deposit-check', 404, 200],
  ['deposit-check', 404, 410],
  ['deposit-check', 429, 503],
  ['deposit-check', 429, 400],
];

const restated = wrongStatuses.map(([endpoint, status, wrong]): readonly [string, Fault] => [
  `${endpoint}-${wrong}-for-${status}`,
  {
    what: `${endpoint} answers ${wrong} where ${status} is due.`,
    fails: [
      ...(status === 429 ? never429[endpoint] : (errorRows[endpoint][status] ?? [])),
      ...(status === 400 && wrong < 400 ? rowsOf('invalid-uuid', [endpoint], 'hostile') : []),
      ...(wrong >= 500 ? [noServerErrors] : []),
    ],
    change: answerWith({ endpoint, status }, wrong),
  },
]);

/** Errors with a wrong status (Errors). */
export const errorStatusFaults: Faults = faultsOf(restated);
