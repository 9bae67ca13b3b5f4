import type { Endpoint } from '../../schemas/endpoints.ts';
import { valuesOf, type World } from '../world.ts';
import { differing, type Change, type Difference, type Edit, type When } from './change.ts';

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

/** What faults spoil, each in a way of its own: a kind of answer, a field, a reader. */
interface Place<How> {
  /** What the ids of its faults begin with. */
  readonly id?: string;
  /** What their sentences begin with. */
  readonly what?: string;
  readonly change: (how: How) => Difference;
}

/** A kind of answer. */
export const answers = (id: string, what: string, when: When): Place<Edit> => ({
  id,
  what,
  change: (edit) => edit(when),
});

/**
 * Faults of a place that fail the same requirements. `with-404: gets 404` is the end of the id and
 * the end of the sentence; behind it stands what is wrong.
 */
export function at<How>(
  { id = '', what = '', change }: Place<How>,
  fails: readonly string[],
  rows: Readonly<Record<string, NoInfer<How>>>,
): Faults {
  const words = (parts: readonly string[], by: string) => parts.filter((part) => part !== '').join(by);
  const faults = Object.entries(rows).map(([row, how]): [string, Fault] => {
    const [end, is] = partsOf(row);
    const sentence = `${words([what, is], ' ')}.`;
    return [words([id, end], '-'), { what: sentence, fails, change: differing(change(how)) }];
  });
  return Object.fromEntries(faults);
}

/** `with-404: gets 404` → `with-404` and `gets 404` */
export function partsOf(row: string): readonly [id: string, what: string] {
  const colon = row.indexOf(': ');
  return [row.slice(0, colon), row.slice(colon + 2)];
}

/** Faults that fail the same requirements and have no place in common. */
export const failing = (fails: readonly string[], rows: Readonly<Record<string, Difference>>): Faults =>
  at<Difference>({ change: (change) => change }, fails, rows);

export const user = ['user-status'] as const satisfies readonly Endpoint[];
export const deposit = ['deposit-check'] as const satisfies readonly Endpoint[];
export const both = ['user-status', 'deposit-check'] as const satisfies readonly Endpoint[];

/** The faults that each endpoint can have on its own. */
export const onEachEndpoint = (faultsOf: (endpoint: Endpoint) => Faults): Faults =>
  joined(both.map(faultsOf));

/** The faults of all groups. */
export const joined = (groups: readonly Faults[]): Faults =>
  Object.fromEntries(groups.flatMap((group) => Object.entries(group)));

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
