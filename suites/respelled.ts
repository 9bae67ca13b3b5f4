import * as fc from 'fast-check';
import { endpoints, type Endpoint } from '../schemas/endpoints.ts';
import type { Answer } from './answer.ts';
import { sameAnswer } from './expectations.ts';
import { oneOf } from './inputs/one-of.ts';
import type { Known } from './known.ts';
import { spread } from './property.ts';
import { lookup, lookupOf } from './request.ts';
import { depends, type Verdict } from './verdict.ts';

/** An id to look up in other spellings: of an entity with letters in its id where letters matter. */
interface Respelled {
  readonly id: string;
  readonly flags: readonly boolean[];
}

const flags = fc.array(fc.boolean(), { minLength: 1, maxLength: 36 }).filter((set) => set.includes(true));

/** The same lookup in another spelling must be answered like the plain one. */
export function respelled(
  endpoint: Endpoint,
  ids: (known: Known) => readonly string[],
  saysFound: (answer: Answer) => Verdict,
  spell: (id: string, flags: readonly boolean[]) => string,
) {
  return {
    every: (known: Known) =>
      spread(ids(known), 50).flatMap((id) => [
        { id, flags: [true] },
        { id, flags: [true, false] },
      ]),
    share: 0.5,
    given: (known: Known) => fc.record<Respelled>({ id: oneOf(ids(known)), flags }),
    ask: ({ id, flags: set }: Respelled) => [
      lookupOf(endpoint, id.toLowerCase()),
      lookup(endpoint, `${endpoints[endpoint].parameter}=${spell(id, set)}`),
    ],
    holds: ([plain, other]: readonly Answer[]) =>
      saysFound(plain!).kind === 'held'
        ? { ...sameAnswer(plain!, other!), at: 1 }
        : depends(endpoint === 'user-status' ? 'valid/user-status/member' : 'valid/deposit-check/executed'),
  };
}
