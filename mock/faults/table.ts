import type { Endpoint } from '../../schemas/endpoints.ts';
import { valuesOf, type World } from '../world.ts';
import { editPayload, type Change, type When } from './change.ts';

/** A single deviation from the interface. */
export interface Fault {
  /** One sentence that says what the server does wrong. */
  readonly what: string;
  /** The required and recommended requirements that fail because of it: exactly these. */
  readonly fails: readonly string[];
  readonly change: Change;
}

/** Faults by id. */
export type Faults = Readonly<Record<string, Fault>>;

type Rows<How> = Readonly<Record<string, readonly [what: string, how: How]>>;

/** Faults that fail the same requirements. `toChange` makes a change of the second part of a row. */
export function failingBy<How>(
  fails: readonly string[],
  toChange: (how: How) => Change,
  rows: Rows<NoInfer<How>>,
): Faults {
  return Object.fromEntries(
    Object.entries(rows).map(([id, [what, how]]) => [id, { what, fails, change: toChange(how) }]),
  );
}

/** Faults that fail the same requirements. */
export const failing = (fails: readonly string[], rows: Rows<Change>): Faults =>
  failingBy<Change>(fails, (change) => change, rows);

export const user = ['user-status'] as const satisfies readonly Endpoint[];
export const deposit = ['deposit-check'] as const satisfies readonly Endpoint[];
export const both = ['user-status', 'deposit-check'] as const satisfies readonly Endpoint[];

/** The faults that each endpoint can have on its own. */
export const onEachEndpoint = (faultsOf: (endpoint: Endpoint) => Faults): Faults =>
  Object.fromEntries(both.flatMap((endpoint) => Object.entries(faultsOf(endpoint))));

/** `rowsOf('auth', both, 'missing')` → `auth/user-status/missing`, `auth/deposit-check/missing` */
export const rowsOf = (suite: string, which: readonly Endpoint[], ...names: readonly string[]) =>
  which.flatMap((endpoint) => names.map((name) => `${suite}/${endpoint}/${name}`));

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

/** The same for all statuses of an endpoint. */
export const allErrorRows = (endpoint: Endpoint) => Object.values(errorRows[endpoint]).flat();

/** Requirements for which a member, or an EXECUTED deposit, has to be found. */
export const memberRows = ['valid/user-status/member', 'foreign-ib/user-status/follows-key'];
export const executedRows = ['valid/deposit-check/executed', 'foreign-ib/deposit-check/follows-key'];

export const noUserData = 'valid/service/no-user-data';
export const noServerErrors = 'robustness/service/no-5xx';

/** The partner of the first key: the one under test. */
export const firstPartner = (world: World) => valuesOf(world.keys)[0]?.partner;

/** Adds fields to the JSON object of an answer, or replaces them. */
export const setFields = (when: When, fields: Readonly<Record<string, unknown>>) =>
  editPayload(when, (payload) => ({ ...payload, ...fields }));

/** Replaces the JSON of an answer. */
export const setJson = (when: When, json: unknown) => editPayload(when, () => json);
