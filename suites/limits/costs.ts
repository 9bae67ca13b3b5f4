import { oncePer } from '../../schemas/once-per.ts';
import type { Answer } from '../answer.ts';
import { isMember } from '../expectations.ts';
import type { Facts } from '../facts.ts';
import { factsOf, presentedKey } from '../facts-of-request.ts';
import type { Known } from '../known.ts';
import type { Request } from '../request.ts';
import type { Asked } from './account.ts';

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
