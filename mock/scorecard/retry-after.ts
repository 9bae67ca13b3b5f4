import { arrived, callerOf, clearlyAfter, endpointOf, grouped, waited, type Entry } from './entries.ts';
import type { Rule, Shown } from './rule.ts';

/** So many ms may be missing from a wait: clocks are coarse. */
const COARSE = 100;

/** So many other requests may follow a 429: parallel workers that have yet to meet one of their own. */
const WORKERS = 32;

const refused = (entry: Entry): entry is Entry & { readonly retryAfterSeconds: number } =>
  entry.status === 429 && entry.retryAfterSeconds !== undefined && arrived(entry);

/** Whether the time that a 429 gave is over when an entry comes. */
const isOver = (answer: Entry, entry: Entry) =>
  waited(answer, entry) >= (answer.retryAfterSeconds ?? 0) * 1000 - COARSE;

const early = (entry: Entry, answer: Entry, graceMs: number) =>
  clearlyAfter(entry, answer, graceMs) && !isOver(answer, entry);

/** A 429 by chaos holds for nobody else; behind any other one, an answer but 429 shows that somebody lifted it. */
const inForce = (entry: Entry, answer: Entry) => entry.status === 429 || answer.chaos !== undefined;

/** Of one caller on one endpoint: the same request again before its time. */
function retries(entries: readonly Entry[], graceMs: number): readonly Entry[] {
  const held: Entry[] = [];
  return entries.filter((entry) => {
    while (held[0] !== undefined && isOver(held[0], entry)) held.shift();
    const wrong = held.some((answer) => inForce(entry, answer) && early(entry, answer, graceMs));
    if (refused(entry)) held.push(entry);
    return wrong;
  });
}

/** Of one caller on one endpoint: more refused requests behind a 429 than workers can explain. */
function onwards(entries: readonly Entry[], graceMs: number): readonly Entry[] {
  let first: Entry | undefined;
  let after: Entry[] = [];
  const wrong: Entry[] = [];
  const close = () => {
    if (after.length > WORKERS) wrong.push(...after);
    after = [];
  };
  for (const entry of entries.filter(refused))
    if (first !== undefined && early(entry, first, graceMs)) after.push(entry);
    else if (first === undefined || isOver(first, entry)) {
      close();
      first = entry;
    }
  close();
  return wrong;
}

/** A client waits as long as a 429 says (Errors, notes; RFC 9110, 10.2.3). */
export const retryAfter: Rule = {
  id: 'retry-after',
  title: 'Honoured Retry-After',
  clause: 'Errors, 429',
  advice: 'after a 429, send nothing with that key to that endpoint for as many seconds as Retry-After says',
  needs: 'a 429 with Retry-After',
  judge: (entries, graceMs): Shown => {
    const same = grouped(entries, (entry) => [
      callerOf(entry),
      endpointOf(entry),
      entry.method,
      entry.target,
    ]);
    const any = grouped(entries, (entry) => [callerOf(entry), endpointOf(entry)]);
    const broken = new Set([
      ...same.flatMap((group) => retries(group, graceMs)),
      ...any.flatMap((group) => onwards(group, graceMs)),
    ]);
    return { times: any.flat().filter(refused).length, broken: entries.filter((entry) => broken.has(entry)) };
  },
};
