import * as fc from 'fast-check';
import type { Endpoint } from '../schemas/endpoints.ts';
import type { Answer } from './answer.ts';
import { sameAnswer } from './expectations.ts';
import { oneOf } from './inputs/one-of.ts';
import { stranger } from './inputs/uuids.ts';
import type { Known } from './known.ts';
import { spread } from './property.ts';
import { lookupOf } from './request.ts';
import { held, unjudged } from './verdict.ts';

/** Several lookups, some of them the same, once in turn and once at the same time. */
interface Repeated {
  readonly ids: readonly string[];
}

/** The same lookups, there and back: each must be answered as before. */
export function repeatable(endpoint: Endpoint, ids: (known: Known) => readonly string[]) {
  return {
    fresh: true,
    every: (known: Known): readonly Repeated[] => [{ ids: [...spread(ids(known), 3), stranger(known)] }],
    share: 0.1,
    given: (known: Known) =>
      fc.record({
        ids: fc.array(oneOf([...ids(known), stranger(known)]), { minLength: 1, maxLength: 3 }),
      }),
    ask: ({ ids: asked }: Repeated) => [...asked, ...asked.toReversed()].map((id) => lookupOf(endpoint, id)),
    // What differs the second time may be the same the third: there is nothing to confirm.
    once: () => true,
    holds: (answers: readonly Answer[]) => {
      if (answers.some(({ status }) => status >= 500))
        return unjudged('flaky', 'one of the lookups was answered with a 5xx');
      const half = answers.length / 2;
      for (let at = 0; at < half; at++) {
        const again = answers.length - 1 - at;
        const verdict = sameAnswer(answers[at]!, answers[again]!);
        if (verdict.kind !== 'held') return { ...verdict, at: again };
      }
      return held;
    },
  };
}
