import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Change } from '../change.ts';

/** A single seeded deviation. */
export interface Fault {
  /** One sentence that says what the server does wrong. */
  readonly what: string;
  /** Requirements of the catalogue that have to fail because of it; others may fail as well. */
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
    400: rowsOf('invalid-uuid', user, 'missing', 'empty', 'malformed', 'not-v4'),
    401: rowsOf('auth', user, ...refusedKeys),
    429: rowsOf('rate-limit', user, 'message'),
  },
  'deposit-check': {
    400: rowsOf('invalid-uuid', deposit, 'missing', 'empty', 'malformed'),
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

export const noServerErrors = 'robustness/service/no-5xx';
