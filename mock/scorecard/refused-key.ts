import { arrived, callerOf, clearlyAfter, endpointOf, grouped, type Entry } from './entries.ts';
import { together, type Rule, type Shown } from './rule.ts';

/** So many requests may follow the first 401: retries, and tests that mean to be refused. */
const TRIES = 10;

/** Whether an answer says something about the key: a method is refused without a look at it. */
const telling = (entry: Entry) => arrived(entry) && entry.status < 500 && entry.status !== 405;

/** Of one credential: requests behind a 401, until it is let in again. */
function judgeCredential(entries: readonly Entry[], graceMs: number): Shown {
  const broken: Entry[] = [];
  let times = 0;
  let first: Entry | undefined;
  let after: Entry[] = [];
  const close = () => {
    if (after.length > TRIES) broken.push(...after);
    after = [];
    first = undefined;
  };
  for (const entry of entries.filter(telling))
    if (entry.status !== 401) close();
    else if (first === undefined) {
      times += 1;
      first = entry;
    } else if (clearlyAfter(entry, first, graceMs)) after.push(entry);
  close();
  return { times, broken };
}

/** A key that is refused stays refused until somebody mends it (Authentication 3). */
export const refusedKey: Rule = {
  id: 'refused-key',
  title: 'Did not hammer with a key that was refused',
  clause: 'Authentication 3',
  advice: 'stop at a 401 and tell a person: asking again does not make the key valid',
  needs: 'a 401 to a request with a key',
  judge: (entries, graceMs) => {
    const asked = entries.filter((entry) => endpointOf(entry) !== undefined);
    const groups = grouped(asked, (entry) => [callerOf(entry)]);
    return together(groups.map((group) => judgeCredential(group, graceMs)));
  },
};
