import type { Endpoint } from '../../schemas/endpoints.ts';
import { findableId, stranger, strangerAt } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { depositCheck, lookupOf, userStatus, type Request } from '../request.ts';

/** A kind of request that may count, and how to make many of them, each another. */
export interface Kind {
  readonly name: string;
  readonly make: (known: Known, from: number, count: number) => readonly Request[];
}

/** Fresh requests of one kind, as many as are asked for. */
export interface Supply {
  readonly kind: string;
  readonly next: (count: number) => readonly Request[];
}

export function supplyOf({ name, make }: Kind, known: Known): Supply {
  let used = 0;
  return {
    kind: name,
    next: (count) => {
      const requests = make(known, used, count);
      used += count;
      return requests;
    },
  };
}

/** The suite spends one key only: the one under test. */
export const asCaller = (known: Known, request: Request): Request => ({
  ...request,
  credential: { as: 'key', key: known.callerKeys[0]! },
});

/** A lookup of the key under test that finds something. */
export const found = (endpoint: Endpoint, known: Known) =>
  asCaller(known, lookupOf(endpoint, findableId(endpoint, known)));

const each = (name: string, request: (known: Known, nth: number) => Request): Kind => ({
  name,
  make: (known, from, count) => Array.from({ length: count }, (_, at) => request(known, from + at)),
});

/** What may count as a failed lookup, the likeliest first; for deposit-check any request counts. */
const kinds: Readonly<Record<Endpoint, readonly Kind[]>> = {
  'user-status': [
    each('unknown users', (known, nth) => asCaller(known, userStatus(strangerAt(known, nth)))),
    each('invalid ids', (known, nth) => asCaller(known, userStatus(`invalid-${nth}`))),
    each('bad keys', (known, nth) =>
      userStatus(stranger(known), {
        credential: { as: 'header', value: `Bearer nobody-${nth}`, shell: `Bearer nobody-${nth}` },
      }),
    ),
  ],
  'deposit-check': [
    each('found and unknown deposits in turn', (known, nth) =>
      asCaller(
        known,
        depositCheck(nth % 2 === 0 ? strangerAt(known, nth) : findableId('deposit-check', known)),
      ),
    ),
  ],
};

export const kindsOf = (endpoint: Endpoint): readonly Kind[] => kinds[endpoint];

/** What is no failed lookup, however often it is done. */
export const lookupsOfMembers = each('members', (known, nth) =>
  asCaller(known, userStatus(known.members[nth % known.members.length]!.user_id)),
);
