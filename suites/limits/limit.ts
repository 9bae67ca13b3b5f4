import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../catalogue/known.ts';
import { oncePer } from '../../schemas/once-per.ts';
import type { Answer } from '../answer.ts';
import { isMember } from '../catalogue/expectations.ts';
import type { Facts } from '../catalogue/facts.ts';
import { factsOf, presentedKey } from '../catalogue/facts-of-request.ts';
import type { Request } from '../request.ts';

/** A rate limit that the fixture states: so many counted requests of a key in a window. */
export interface RateLimit {
  readonly most: number;
  readonly windowMs: number;
}

/** A longer wait for a limiter (ms) needs a reason: a requirement without an answer, or the next strength. */
export const SHORT_WAIT_MS = 10_000;

/** The stated limits by endpoint. They slow sending, and say after how many requests a 429 is due. */
export const statedLimits = ({
  limits,
}: Pick<Known, 'limits'>): Readonly<Partial<Record<Endpoint, RateLimit>>> =>
  Object.fromEntries(
    Object.entries(limits).map(([endpoint, limit]) => {
      const most = 'failedLookups' in limit ? limit.failedLookups : limit.requests;
      return [endpoint, { most, windowMs: limit.windowSeconds * 1000 }];
    }),
  );

/** The limit that the fixture states for an endpoint. */
export const statedLimit = (endpoint: Endpoint, known: Pick<Known, 'limits'>): RateLimit | undefined =>
  statedLimits(known)[endpoint];

/** `5 min`, `297 s`, `1.5 s` */
export const describeMs = (ms: number): string =>
  ms > 0 && ms % 60_000 === 0
    ? `${ms / 60_000} min`
    : `${ms < 10_000 ? Number((ms / 1000).toPrecision(2)) : Math.round(ms / 1000)} s`;

/** `20 in 5 min`, `250 in 3 s` */
export const describeLimit = ({ most, windowMs }: RateLimit): string => `${most} in ${describeMs(windowMs)}`;

/** Who asks: an endpoint, an accepted key or the empty one, and whether the request may count. */
export interface Asked {
  readonly endpoint: Endpoint;
  readonly key: string;
  readonly cost: 0 | 1;
}

/** Whether a lookup may count at the limiter: one of a member does not fail, and one without an accepted key is free. */
export function costOf({ endpoint, key, parameter, entity, isOpen }: Facts): 0 | 1 {
  if (key !== 'accepted' && key !== 'open') return 0;
  const isMembers = entity === 'own user' && parameter === 'plain' && !isOpen;
  return endpoint === 'user-status' && isMembers ? 0 : 1;
}

const askedFor = oncePer((known: Known) =>
  oncePer((request: Request): Asked => {
    const { endpoint } = request;
    const { key, found } = presentedKey(known, request);
    const facts = factsOf(known, request);
    const isAccepted = key === 'accepted' || key === 'open';
    return {
      endpoint,
      key: found?.key ?? '',
      cost: facts === undefined ? (isAccepted ? 1 : 0) : costOf(facts),
    };
  }),
);

/** Whose limit a request uses, and whether it may count. */
export const askedBy = (known: Known, request: Request): Asked => askedFor(known)(request);

/**
 * Whether an answer shows that its request counted (Limits): on deposit-check any answer to an accepted key, on
 * user-status any but one about a member. A refused key and a 429 cost nothing.
 */
export function isCounted({ endpoint, cost }: Asked, answer: Answer): boolean {
  if (answer.status === 401 || answer.status === 429) return false;
  return endpoint === 'deposit-check' ? cost > 0 : cost > 0 && !isMember(answer);
}
