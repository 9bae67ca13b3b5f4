import { arrived, callerOf, clearlyAfter, endpointOf, grouped, waited, type Entry } from './entries.ts';
import { together, type Rule, type Shown } from './rule.ts';

/** So many ms may be missing from a wait: clocks are coarse. */
const COARSE = 100;

/** A gap of so many ms is taken for the longest that a client allows itself. */
const LONG = 30_000;

/** Gaps from which on evenness is no accident of a random back-off: its later gaps would be 16 times its first. */
const MANY = 5;

/** The requests of a run without those that may have been in flight with the one before. */
function triesOf(run: readonly Entry[], graceMs: number): readonly Entry[] {
  const tries: Entry[] = [];
  for (const entry of run) {
    const before = tries.at(-1);
    if (before === undefined || clearlyAfter(entry, before, graceMs)) tries.push(entry);
  }
  return tries;
}

/** The same request refused with 429 again and again, as runs without another answer between. */
function runsOf(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const runs: Entry[][] = [[]];
  for (const entry of entries) {
    if (entry.status === 429) runs.at(-1)?.push(entry);
    else runs.push([]);
  }
  return runs.filter((run) => run.every(arrived));
}

function judgeRun(run: readonly Entry[], graceMs: number): Shown {
  const tries = triesOf(run, graceMs);
  const gaps = tries.slice(1).map((entry, index) => {
    const before = tries[index] ?? entry;
    const askedMs = (before.retryAfterSeconds ?? Infinity) * 1000;
    const ms = waited(before, entry);
    return { ms, patient: ms >= Math.min(askedMs - COARSE, LONG) };
  });
  if (gaps.length < 2) return { times: 0, broken: [] };
  const lengths = gaps.map(({ ms }) => ms);
  const grew = Math.max(...lengths) >= 2 * Math.min(...lengths);
  if (grew || gaps.some(({ patient }) => patient)) return { times: 1, broken: [] };
  return gaps.length < MANY ? { times: 0, broken: [] } : { times: 1, broken: tries };
}

/** A client that is refused again and again waits longer and longer (Errors, notes). */
export const backOff: Rule = {
  id: 'back-off',
  title: 'Backed off where 429 came again and again',
  clause: 'Errors, 429',
  advice: 'double the wait with each 429 for the same request, or wait as long as Retry-After says',
  needs: 'the same request refused with 429 three times in a row, or six times at even gaps',
  judge: (entries, graceMs) =>
    together(
      grouped(entries, (entry) => [callerOf(entry), endpointOf(entry), entry.method, entry.target]).flatMap(
        (group) => runsOf(group).map((run) => judgeRun(run, graceMs)),
      ),
    ),
};
