import type { Endpoint } from '../../schemas/endpoints.ts';
import { findableId, unknownId, unknownIdAt } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { depositCheck, lookupOf, userStatus, type Request } from '../request.ts';

/** A kind of request that may count at the limiter. Each `nth` request is different. */
export interface RequestKind {
  readonly name: string;
  readonly make: (known: Known, nth: number) => Request;
}

/** An endless supply of new requests of one kind. */
export interface Supply {
  readonly kind: string;
  readonly next: () => Request;
}

export function supplyOf({ name, make }: RequestKind, known: Known): Supply {
  let used = 0;
  return { kind: name, next: () => make(known, used++) };
}

/** Sends a request with the key under test: the only key that the suite uses up. */
export const withTestKey = (known: Known, request: Request): Request => ({
  ...request,
  credential: { as: 'key', key: known.callerKeys[0]! },
});

export const findableLookup = (endpoint: Endpoint, known: Known) =>
  withTestKey(known, lookupOf(endpoint, findableId(endpoint, known)));

/** Kinds of requests that may count as failed lookups, the most likely first. On deposit-check, all count. */
export const kinds: Readonly<Record<Endpoint, readonly RequestKind[]>> = {
  'user-status': [
    {
      name: 'unknown users',
      make: (known, nth) => withTestKey(known, userStatus(unknownIdAt(known, nth))),
    },
    { name: 'invalid ids', make: (known, nth) => withTestKey(known, userStatus(`invalid-${nth}`)) },
    {
      name: 'bad keys',
      make: (known, nth) => {
        const value = `Bearer nobody-${nth}`;
        return userStatus(unknownId(known), { credential: { as: 'header', value, shell: value } });
      },
    },
  ],
  'deposit-check': [
    {
      name: 'known and unknown deposits in turn',
      make: (known, nth) => {
        const id = nth % 2 === 0 ? unknownIdAt(known, nth) : findableId('deposit-check', known);
        return withTestKey(known, depositCheck(id));
      },
    },
  ],
};

/** Lookups that never count as failed. */
export const lookupsOfMembers: RequestKind = {
  name: 'members',
  make: (known, nth) => withTestKey(known, userStatus(known.members[nth % known.members.length]!.user_id)),
};
