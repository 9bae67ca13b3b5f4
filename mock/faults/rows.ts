import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Change } from '../change.ts';

/** A single seeded deviation. */
export interface Fault {
  /** One sentence that says what the server does wrong. */
  readonly what: string;
  /** The required and recommended requirements that fail because of it: exactly these. */
  readonly fails: readonly string[];
  readonly change: Change;
}

export type Faults = Readonly<Record<string, Fault>>;

export const user = ['user-status'] as const satisfies readonly Endpoint[];
export const deposit = ['deposit-check'] as const satisfies readonly Endpoint[];
export const both = ['user-status', 'deposit-check'] as const satisfies readonly Endpoint[];

/** `rowsOf('auth', both, 'missing')` → `auth/user-status/missing`, `auth/deposit-check/missing` */
export function rowsOf(suite: string, which: readonly Endpoint[], ...names: readonly string[]) {
  return which.flatMap((endpoint) => names.map((name) => `${suite}/${endpoint}/${name}`));
}

const refusedKeys = ['missing', 'malformed', 'unknown-key', 'revoked', 'expired', 'non-partner'];

/** Requirements that look at the exact answer of an error, by endpoint and status (Errors). */
export const errorRows: Readonly<Record<Endpoint, Readonly<Record<number, readonly string[]>>>> = {
  'user-status': {
    400: rowsOf('invalid-uuid', user, 'missing', 'empty', 'malformed', 'not-v4', 'alternative-spelling'),
    401: rowsOf('auth', user, ...refusedKeys),
    429: rowsOf('rate-limit', user, 'message'),
  },
  'deposit-check': {
    400: rowsOf('invalid-uuid', deposit, 'missing', 'empty', 'malformed', 'alternative-spelling'),
    401: rowsOf('auth', deposit, ...refusedKeys),
    404: [
      ...rowsOf('foreign-ib', deposit, 'other-ib', 'unknown'),
      ...rowsOf('pending', deposit, 'pending', 'failed'),
    ],
    429: rowsOf('rate-limit', deposit, 'message'),
  },
};

/** All of them for an endpoint. */
export function allErrorRows(endpoint: Endpoint): readonly string[] {
  return Object.values(errorRows[endpoint]).flat();
}

/** Requirements for which a member has to be found, and an EXECUTED deposit: under whichever key. */
export const memberRows = [...rowsOf('valid', user, 'member'), ...rowsOf('foreign-ib', user, 'follows-key')];
export const executedRows = [
  ...rowsOf('valid', deposit, 'executed'),
  ...rowsOf('foreign-ib', deposit, 'follows-key'),
];

/** A deposit that becomes EXECUTED is shown as those that always were. */
export const becomesExecuted = rowsOf('pending', deposit, 'becomes-executed');

export const noUserData = 'valid/service/no-user-data';
export const noServerErrors = 'robustness/service/no-5xx';
