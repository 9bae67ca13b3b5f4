import type { Endpoint } from '../../schemas/endpoints.ts';
import { findableId, unknownId } from '../inputs/uuids.ts';
import type { Known } from '../known.ts';
import { depositCheck, lookupOf, userStatus, type Request } from '../request.ts';
import type { Context } from '../scenario-context.ts';
import { othersIn } from './history.ts';

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
const withTestKey = (known: Known, request: Request): Request => ({
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
      make: (known, nth) => withTestKey(known, userStatus(unknownId(known, nth))),
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
        const one = nth % 2 === 0 ? undefined : known.executed[((nth - 1) / 2) % known.executed.length];
        return withTestKey(known, depositCheck(one?.reference_id ?? unknownId(known, nth)));
      },
    },
  ],
};

/** Lookups that never count as failed. */
export const lookupsOfMembers: RequestKind = {
  name: 'members',
  make: (known, nth) => withTestKey(known, userStatus(known.members[nth % known.members.length]!.user_id)),
};

/** How other requests are answered while a key is limited. */
export type LimitedProbe = Awaited<ReturnType<typeof probeWhileLimited>>;

/** Sends other requests, and requests with other keys, all at once. */
export async function probeWhileLimited(endpoint: Endpoint, context: Context, known: Known) {
  const findable = findableId(endpoint, known);
  const asked = {
    'a known id': findableLookup(endpoint, known),
    'an invalid id': withTestKey(known, lookupOf(endpoint, 'invalid')),
    'an unknown key': lookupOf(endpoint, findable, {
      credential: { as: 'header', value: 'Bearer nobody', shell: 'Bearer nobody' },
    }),
  };
  const others = Object.fromEntries(
    [...known.callerKeys.slice(1, 2), ...known.otherKeys.slice(0, 1)].map((key) => [
      key.name,
      lookupOf(endpoint, findable, { credential: { as: 'key', key } }),
    ]),
  );
  const requests = { ...asked, ...others };
  const replies = await context.burst(...Object.values(requests));
  const answers = Object.keys(requests).flatMap((name, at) => {
    const reply = replies[at]!;
    return reply.kind === 'answer' ? [{ ...reply, name }] : [];
  });
  const answersTo = (some: object) => answers.filter(({ name }) => name in some);
  return {
    /** Statuses of other requests of the limited key and of one with an unknown key, by name. */
    statuses: Object.fromEntries(answersTo(asked).map(({ name, status }) => [name, status])),
    /** Whether other keys are limited too, by key name. */
    others: Object.fromEntries(answersTo(others).map(({ name, status }) => [name, status === 429])),
    history: othersIn(replies),
  };
}
