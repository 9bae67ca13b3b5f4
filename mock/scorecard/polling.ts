import { endpoints } from '../../schemas/endpoints.ts';
import { decodeText } from '../behaviour.ts';
import { readQuery, splitTarget } from '../handler.ts';
import { arrived, callerOf, clearlyAfter, endpointOf, grouped, type Entry } from './entries.ts';
import { together, type Rule, type Shown } from './rule.ts';

/**
 * So many checks may be told EXECUTED again: somebody else may want to know as well. Those that are
 * told nothing (429, 5xx) may be a second poller's, who has not heard yet.
 */
const LOOKS = 2;

/** The reference_id that an entry asks for, in lower case; undefined elsewhere. */
function depositOf(entry: Entry): string | undefined {
  if (endpointOf(entry) !== 'deposit-check') return undefined;
  const parameters = readQuery(splitTarget(entry.target).query, decodeText);
  return parameters.find(([name]) => name === endpoints['deposit-check'].parameter)?.[1].toLowerCase();
}

/** Of one caller and one deposit. Only what was 404 before its 200 has been polled. */
function judgeDeposit(entries: readonly Entry[], graceMs: number): Shown {
  const broken: Entry[] = [];
  let times = 0;
  let polled = false;
  let executed: Entry | undefined;
  let after: Entry[] = [];
  const close = () => {
    if (after.length > LOOKS) broken.push(...after);
    after = [];
  };
  for (const entry of entries)
    if (entry.status === 404) {
      // Behind a 200, the deposit has been put back: the polling begins anew.
      close();
      polled = true;
      executed = undefined;
    } else if (entry.status === 200 && arrived(entry) && polled) {
      if (executed === undefined) {
        times += 1;
        executed = entry;
      } else if (clearlyAfter(entry, executed, graceMs)) after.push(entry);
    }
  close();
  return { times, broken };
}

/** A client polls until it gets 200 (States and transitions). */
export const polling: Rule = {
  id: 'polling',
  title: 'Stopped polling a deposit once it was EXECUTED',
  clause: 'States and transitions',
  advice: 'stop at the first 200 and keep its result: an EXECUTED deposit stays EXECUTED',
  needs: 'a deposit that was answered 404 and then 200',
  judge: (entries, graceMs) =>
    together(
      grouped(entries, (entry) => [callerOf(entry), depositOf(entry)]).map((group) =>
        judgeDeposit(group, graceMs),
      ),
    ),
};
