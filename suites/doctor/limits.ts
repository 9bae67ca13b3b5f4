import { header, type Answer } from '../answer.ts';
import type { Known } from '../known.ts';
import { bad, good, type Finding } from './finding.ts';

/** Whether a limiter is near: the few requests of a look should be far below it. */
export function judgeLimits(answers: readonly Answer[], { limits }: Pick<Known, 'limits'>): Finding {
  const limited = answers.filter(({ status }) => status === 429);
  const stated = ['user-status', 'deposit-check'].filter((endpoint) => Object.hasOwn(limits, endpoint));
  const [first] = limited;
  if (first === undefined)
    return good(
      `no 429 among ${answers.length} answers; ${stated.length === 0 ? 'the fixture states no limits such as { "user-status": { "failedLookups": 60, "windowSeconds": 60 } }, so a run learns them, which takes longer' : `stated for ${stated.join(' and ')}`}`,
    );
  const wait = limited.map((answer) => header(answer, 'retry-after')).find((value) => value !== undefined);
  return bad(
    `429 to ${limited.length} of ${answers.length} requests already, ${wait === undefined ? 'without Retry-After' : `Retry-After: ${wait}`}`,
    `Wait${wait === undefined || !/^\d+$/.test(wait) ? '' : ` ${wait} s`} and ask again. verify waits limiters out, and is quicker with a higher threshold or a second active key.`,
  );
}
