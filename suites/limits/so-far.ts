import { perEndpoint, type Endpoint } from '../../schemas/endpoints.ts';
import type { Lookup } from '../engine/lookups.ts';
import type { Known } from '../known.ts';
import type { Requirement } from '../requirement.ts';
import { newAccount, newLimits, type Limits } from './account.ts';
import { askedBy } from './costs.ts';
import type { RateLimit } from './limit.ts';

/** What a run has done, and what it knows: the plan of its rest starts from it. Times are in ms of the run's clock. */
export interface SoFar {
  readonly startedAt: number;
  readonly now: number;
  readonly requests: number;
  /** The lookups that were answered. */
  readonly sent: ReadonlySet<Lookup>;
  readonly isDone: (requirement: Requirement) => boolean;
  readonly limits: Limits;
  readonly known: Known;
}

type KnownLimits = Readonly<Partial<Record<Endpoint, RateLimit>>>;

/** Limits of which nothing is used, at a target that keeps to them. */
export const unused = (limits: KnownLimits): Limits =>
  newLimits(limits, { deadline: Infinity, runMs: Infinity });

/** Limits as far as a run has used them. Keys of the partner are called `key 0` and so on, others by their level. */
export function stateOf(
  { known, limits: { endpoints } }: SoFar,
  {
    limits,
    lookups,
  }: { readonly limits: KnownLimits; readonly lookups: Readonly<Record<Endpoint, readonly Lookup[]>> },
): Limits {
  // One lookup of a level shows its key.
  const ofLevels = new Map(
    [...lookups['user-status'], ...lookups['deposit-check']].map((one) => [one.levels.key, one]),
  );
  const names = new Map([...ofLevels].map(([level, one]) => [askedBy(known, one.request()).key, level]));
  for (const [nth, { key }] of known.callerKeys.entries()) names.set(key, `key ${nth}`);
  const state = unused(limits);
  const of = (endpoint: Endpoint) => ({
    ...state.endpoints[endpoint],
    accounts: endpoints[endpoint].accounts.map(({ key, counted, refusal }) => ({
      ...newAccount(names.get(key) ?? key),
      counted,
      refusal: refusal && { ...refusal, isEarly: false },
    })),
  });
  return { ...state, endpoints: perEndpoint(of) };
}
