import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Exchange } from '../exchange.ts';
import { valuesOf, type World } from '../world.ts';
import { changeBy, type Change, type Difference, type Edit, type Filter } from './edits.ts';

/** A deviation from the interface. */
export interface Fault {
  /** What the server does wrong, in one sentence. */
  readonly what: string;
  /** Exactly the required and recommended requirements that fail. */
  readonly fails: readonly string[];
  readonly change: Change;
}

/** Faults by id. */
export type Faults = Readonly<Record<string, Fault>>;

/** What a group of faults changes: a kind of answer, a field, a parser. */
interface Subject<How> {
  /** Start of the ids of its faults. */
  readonly id?: string;
  /** Start of their sentences. */
  readonly what?: string;
  readonly change: (how: How) => Difference;
}

/** Creates the subject for a kind of answer. */
export const answers = (id: string, what: string, when: Filter): Subject<Edit> => ({
  id,
  what,
  change: (edit) => edit(when),
});

/**
 * Defines faults of a subject that fail the same requirements. The key of a row, such as `with-404: gets 404`,
 * is the end of the id and the end of the sentence.
 */
export function define<How>(
  { id = '', what = '', change }: Subject<How>,
  fails: readonly string[],
  rows: Readonly<Record<string, NoInfer<How>>>,
): Faults {
  const words = (parts: readonly string[], by: string) => parts.filter((part) => part !== '').join(by);
  const faults = Object.entries(rows).map(([row, how]): [string, Fault] => {
    const [end, is] = splitRow(row);
    const sentence = `${words([what, is], ' ')}.`;
    return [words([id, end], '-'), { what: sentence, fails, change: changeBy(change(how)) }];
  });
  return Object.fromEntries(faults);
}

/** `with-404: gets 404` → `with-404` and `gets 404` */
export function splitRow(row: string): readonly [id: string, what: string] {
  const colon = row.indexOf(': ');
  return [row.slice(0, colon), row.slice(colon + 2)];
}

/** Defines faults without a common subject that fail the same requirements. */
export const failing = (fails: readonly string[], rows: Readonly<Record<string, Difference>>): Faults =>
  define<Difference>({ change: (change) => change }, fails, rows);

export const user = ['user-status'] as const satisfies readonly Endpoint[];
export const deposit = ['deposit-check'] as const satisfies readonly Endpoint[];
export const both = ['user-status', 'deposit-check'] as const satisfies readonly Endpoint[];

/** Defines faults for each endpoint. */
export const perEndpoint = (faultsOn: (endpoint: Endpoint) => Faults): Faults => merge(both.map(faultsOn));

export const merge = (groups: readonly Faults[]): Faults =>
  Object.fromEntries(groups.flatMap((group) => Object.entries(group)));

/** `idsIn('auth', both, 'missing')` → `auth/user-status/missing`, `auth/deposit-check/missing` */
export const idsIn = (suite: string, which: readonly Endpoint[], ...names: readonly string[]) =>
  which.flatMap((endpoint) => names.map((name) => `${suite}/${endpoint}/${name}`));

const refusedKeys = ['missing', 'malformed', 'unknown-key', 'revoked', 'expired', 'non-partner'];

/** Requirements that check the exact answer of an error, by endpoint and status (Errors). */
export const errorIds: Readonly<Record<Endpoint, Readonly<Record<number, readonly string[]>>>> = {
  'user-status': {
    400: idsIn('invalid-uuid', user, 'missing', 'empty', 'malformed', 'not-v4', 'alternative-spelling'),
    401: idsIn('auth', user, ...refusedKeys),
    429: idsIn('rate-limit', user, 'message'),
  },
  'deposit-check': {
    400: idsIn('invalid-uuid', deposit, 'missing', 'empty', 'malformed', 'alternative-spelling'),
    401: idsIn('auth', deposit, ...refusedKeys),
    404: [
      ...idsIn('foreign-ib', deposit, 'other-ib', 'unknown'),
      ...idsIn('pending', deposit, 'pending', 'failed'),
    ],
    429: idsIn('rate-limit', deposit, 'message'),
  },
};

export const allErrors = (endpoint: Endpoint) => Object.values(errorIds[endpoint]).flat();

/** Requirements that need a member or an EXECUTED deposit. */
export const memberIds = ['valid/user-status/member', 'foreign-ib/user-status/follows-key'];
export const executedIds = ['valid/deposit-check/executed', 'foreign-ib/deposit-check/follows-key'];

export const noUserData = 'valid/service/no-user-data';
export const noServerErrors = 'robustness/service/no-5xx';

/** Whether the caller's IB has the deposit of an exchange, in this state. */
export const hasState = (state: 'pending' | 'failed') => (exchange: Exchange) =>
  exchange.finding.kind === 'notYet' && exchange.finding.deposit.state === state;

export const queryOf = ({ request }: Exchange) => request.target.split('?')[1] ?? '';

/** Returns the partner of the first key, which is the one under test. */
export const firstPartner = (world: World) => valuesOf(world.keys)[0]?.partner;
