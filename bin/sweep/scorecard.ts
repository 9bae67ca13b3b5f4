import { endpointNames, endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { JournalLine as Entry } from '../../mock/journal.ts';
import { isValidId, readQuery, splitTarget } from '../../mock/handler.ts';
import { CLOCK_TOLERANCE_MS, isEven, LONGEST_PAUSE_MS, paceOf, POLL_PAUSE_MS, rules } from './rule-table.ts';
import type { Rule, RuleId } from './rule-table.ts';

/** What the requests say about a rule. */
interface Evidence {
  /** How often the client had the chance to break the rule. */
  readonly times: number;
  /** Requests that only a client that breaks the rule sends. */
  readonly broken?: readonly Entry[];
  /** Requests that have another explanation. */
  readonly doubtful?: readonly Entry[];
}

/** The grade of one rule. */
export interface Grade extends Pick<Rule, 'title' | 'clause' | 'level'> {
  readonly id: RuleId;
  /** `unclear`: the requests have two readings. */
  readonly outcome: 'kept' | 'broken' | 'unclear' | 'notSeen';
  /** With `kept`: how often the client had the chance to break the rule. */
  readonly times?: number;
  /** With `broken` and `unclear`. */
  readonly requests?: readonly Entry[];
  /** With `broken` and `unclear`: what to do. */
  readonly advice?: string;
  /** With `unclear`. */
  readonly readings?: readonly [string, string];
  /** With `notSeen`: what would show it. */
  readonly needs?: string;
}

/** Returns the ms from an answer to a request. The mock's clock may have been moved, so the longer time counts. */
export const waitMs = (from: Entry, to: Entry) =>
  Math.max(to.at - from.at, to.elapsedMs - from.elapsedMs) - (from.durationMs ?? 0);

/** Whether the client got the whole answer in time. All chaos but a status prevents this. */
const isComplete = ({ chaos }: Entry) => chaos === undefined || /^\d{3}$/.test(chaos);

function endpointOf({ endpoint, target }: Entry): Endpoint | undefined {
  const { path } = splitTarget(target);
  return endpoint ?? endpointNames.find((name) => path.endsWith(endpoints[name].path));
}

const isLookup = (entry: Entry) => endpointOf(entry) !== undefined;

export const callerOf = ({ credentialDigest, key }: Entry) => credentialDigest ?? key;

function depositOf(entry: Entry): string | undefined {
  if (endpointOf(entry) !== 'deposit-check') return undefined;
  const parameters = readQuery(splitTarget(entry.target).query);
  return parameters.find(([name]) => name === endpoints['deposit-check'].parameter)?.[1].toLowerCase();
}

type PartsOf = (entry: Entry) => readonly (string | undefined)[];
const sameRequest: PartsOf = (entry) => [callerOf(entry), endpointOf(entry), entry.method, entry.target];
const sameDeposit: PartsOf = (entry) => [callerOf(entry), depositOf(entry)];

/**
 * Groups entries by world and `partsOf`, in their order. Leaves out entries with an undefined part and answers
 * that did not arrive. When the clock of a world goes back, new groups begin: earlier waits no longer apply.
 */
function groupBy(entries: readonly Entry[], partsOf: PartsOf) {
  const groups = new Map<string, Entry[]>();
  const clocks = new Map<string, { readonly at: number; readonly turn: number }>();
  for (const entry of entries.toSorted((one, other) => one.id - other.id)) {
    const { at = entry.at, turn = 0 } = clocks.get(entry.world) ?? {};
    const now = { at: entry.at, turn: entry.at < at ? turn + 1 : turn };
    clocks.set(entry.world, now);
    const parts = partsOf(entry);
    if (parts.includes(undefined) || !isComplete(entry)) continue;
    const name = JSON.stringify([entry.world, now.turn, ...parts]);
    const group = groups.get(name) ?? [];
    group.push(entry);
    groups.set(name, group);
  }
  return [...groups.values()];
}

/** An answer, and the next request of the same kind that was sent after it. */
type Pair = readonly [answer: Entry, next: Entry];

/** Returns the runs of an answer that `isRefused`, each with what follows it. Requests in flight are left out. */
function runsOf(group: readonly Entry[], isRefused: (entry: Entry) => boolean): readonly (readonly Pair[])[] {
  const runs: Pair[][] = [[]];
  for (const [index, answer] of group.entries()) {
    if (!isRefused(answer)) runs.push([]);
    else {
      let after = index + 1;
      while (after < group.length && waitMs(answer, group[after]!) < 0) after++;
      const next = group[after];
      if (next !== undefined) runs.at(-1)!.push([answer, next]);
    }
  }
  return runs.filter(({ length }) => length > 0);
}

const repeatsOf = (pairs: readonly Pair[]) => [...new Set(pairs.map(([, next]) => next))];
const pausesOf = (pairs: readonly Pair[]) => pairs.map(([answer, next]) => waitMs(answer, next));

/**
 * Two or more wrong requests break a rule in a world that one test has to itself. One may be the test's own, and the
 * main world has several tests.
 */
function evidenceOf(runs: readonly (readonly Pair[])[], wrongOf: (run: readonly Pair[]) => readonly Entry[]) {
  const wrong = runs.map(wrongOf).filter(({ length }) => length > 0);
  const isSure = (run: readonly Entry[]) => run.length >= 2 && run[0]!.world !== '';
  return {
    times: runs.length,
    broken: wrong.filter(isSure).flat(),
    doubtful: wrong.filter((run) => !isSure(run)).flat(),
  };
}

const repeated = (status: (entry: Entry) => boolean) => (entries: readonly Entry[]) =>
  groupBy(entries, sameRequest).flatMap((group) => runsOf(group, status));
const limitedRuns = repeated(({ status }) => status === 429);
const failedRuns = repeated(({ status }) => status >= 500);

/** Judges repeats of a status that a retry does not change; `times` counts the answers with it. */
function judgeRefused(entries: readonly Entry[], status: number): Evidence {
  const runs = repeated((entry) => entry.status === status && callerOf(entry) !== undefined)(entries);
  // An accepted request in between shows that the key or the data changed.
  const found = evidenceOf(runs, (run) => repeatsOf(run).filter((entry) => entry.status === status));
  const times = entries.filter((entry) => entry.status === status && isLookup(entry) && callerOf(entry));
  return { ...found, times: times.length };
}

const isEarly = ([answer, next]: Pair) =>
  waitMs(answer, next) < (answer.retryAfterSeconds ?? 0) * 1000 - CLOCK_TOLERANCE_MS;

/** Pairs whose pause is up to the client, and not its maximum. */
const ownPauses = (run: readonly Pair[]) =>
  run.filter(
    (pair) =>
      (pair[0].retryAfterSeconds === undefined || isEarly(pair)) &&
      waitMs(...pair) < LONGEST_PAUSE_MS - CLOCK_TOLERANCE_MS,
  );

/** Returns the requests after a deposit's first 200 that follows a 404. */
function judgePolling(entries: readonly Entry[]): Evidence {
  const judged = groupBy(entries, sameDeposit).flatMap((group) => {
    const executed = group.findIndex(({ status }, at) => status === 200 && group[at - 1]?.status === 404);
    if (executed < 0) return [];
    const first = group[executed]!;
    const after = group.slice(executed + 1).filter((entry) => waitMs(first, entry) >= 0);
    return [{ after, isSame: hasPaceOfPolls(group, executed) }];
  });
  const of = (isSame: boolean) => judged.flatMap((one) => (one.isSame === isSame ? one.after : []));
  return { times: judged.length, broken: of(true), doubtful: of(false) };
}

/** Whether two or more requests after `executed` have the pace of the polls before it. */
function hasPaceOfPolls(group: readonly Entry[], executed: number): boolean {
  const first = group.findLastIndex(({ status }, at) => at < executed && status !== 404) + 1;
  const pausesIn = (from: number, to: number) =>
    group.slice(from + 1, to + 1).map((entry, at) => waitMs(group[from + at]!, entry));
  const [before, after] = [pausesIn(first, executed), pausesIn(executed, group.length - 1)];
  const isSlow = before.every((pause) => pause >= POLL_PAUSE_MS);
  return before.length > 0 && after.length >= 2 && isSlow && isEven([...before, ...after]);
}

const RAW = /[^!$&'()*+,;=:@/?%\w.~-]|%(?![0-9a-f]{2})/i;

function judgeEncoding(entries: readonly Entry[]): Evidence {
  const asked = entries.flatMap((entry) => {
    const endpoint = endpointOf(entry);
    if (endpoint === undefined || entry.keyInTarget) return [];
    const { query } = splitTarget(entry.target);
    const parameters = readQuery(query);
    const id = parameters.find(([name]) => name === endpoints[endpoint].parameter)?.[1] ?? '';
    const isBroken = RAW.test(query) || (parameters.length > 1 && id !== '' && !isValidId(endpoint, id));
    const isTwice = /%[0-9a-f]{2}/i.test(id);
    return isBroken || RAW.test(id) || /[&+=#%]/.test(id) ? [{ entry, isBroken, isTwice }] : [];
  });
  return {
    times: asked.length,
    broken: asked.flatMap(({ entry, isBroken }) => (isBroken ? entry : [])),
    doubtful: asked.flatMap(({ entry, isTwice }) => (isTwice ? entry : [])),
  };
}

function judgeAuthorization(entries: readonly Entry[]): Evidence {
  const asked = entries.filter((entry) => isLookup(entry) && entry.method === 'GET');
  const isKeyless = (entry: Entry) => callerOf(entry) === undefined;
  if (asked.length > 0 && asked.every(isKeyless))
    return { times: asked.length, ...(asked.length > 1 ? { broken: asked } : { doubtful: asked }) };
  const doubtful = endpointNames.flatMap((name) => {
    const ofEndpoint = asked.filter((entry) => endpointOf(entry) === name);
    return ofEndpoint.length > 1 && ofEndpoint.every(isKeyless) ? ofEndpoint : [];
  });
  return { times: asked.length, doubtful };
}

const judges: Partial<Record<RuleId, (entries: readonly Entry[]) => Evidence>> = {
  wait: (entries) =>
    evidenceOf(limitedRuns(entries), (run) => {
      if (run.length === 1 && waitMs(...run[0]!) < POLL_PAUSE_MS) return repeatsOf(run);
      return paceOf([pausesOf(run)]) === 'none' ? repeatsOf(run) : [];
    }),
  'retry-after': (entries) => {
    const runs = limitedRuns(entries).map((run) =>
      run.filter(([answer]) => answer.retryAfterSeconds !== undefined),
    );
    return evidenceOf(
      runs.filter(({ length }) => length > 0),
      (run) => repeatsOf(run.filter(isEarly)),
    );
  },
  'back-off': (entries) => {
    const runs = limitedRuns(entries).filter(({ length }) => length >= 2);
    return evidenceOf(runs, (run) => (paceOf([pausesOf(ownPauses(run))]) === 'even' ? repeatsOf(run) : []));
  },
  'server-errors': (entries) => {
    const runs = failedRuns(entries).filter(({ length }) => length >= 2);
    return evidenceOf(runs, (run) =>
      ['none', 'even'].includes(paceOf([pausesOf(ownPauses(run))])) ? repeatsOf(run) : [],
    );
  },
  polling: judgePolling,
  'poll-pace': (entries) => {
    const runs = groupBy(entries, sameDeposit)
      .flatMap((group) => runsOf(group, ({ status }) => status === 404))
      .map((run) => run.filter(([, next]) => next.status === 404))
      .filter(({ length }) => length > 0);
    return evidenceOf(runs, (run) => repeatsOf(run.filter((pair) => waitMs(...pair) < POLL_PAUSE_MS)));
  },
  'refused-request': (entries) => judgeRefused(entries, 400),
  'refused-key': (entries) => judgeRefused(entries, 401),
  encoding: judgeEncoding,
  'key-out-of-url': (entries) => ({
    times: entries.length,
    broken: entries.filter(({ keyInTarget }) => keyInTarget),
  }),
  authorization: judgeAuthorization,
  'get-only': (entries) => {
    // Browsers send OPTIONS on their own.
    const asked = entries.filter((entry) => isLookup(entry) && entry.method !== 'OPTIONS');
    return { times: asked.length, broken: asked.filter(({ method }) => method !== 'GET') };
  },
};

/** Creates the grade of a rule, with what belongs to its outcome. */
export function gradeOf(
  { id, title, clause, level, counts, advice, needs, otherwise }: Rule & { readonly id: RuleId },
  outcome: Grade['outcome'],
  times: number,
  requests: readonly Entry[],
): Grade {
  const details = {
    kept: { times },
    broken: { requests, advice },
    unclear: { requests, readings: [otherwise, `the client broke the rule: ${counts}`], advice },
    notSeen: { needs },
  } as const;
  return { id, title, clause, level, outcome, ...details[outcome] };
}

function gradeFrom(rule: (typeof rules)[number], { times, broken = [], doubtful = [] }: Evidence): Grade {
  if (broken.length > 0) return gradeOf(rule, 'broken', times, broken);
  if (doubtful.length > 0) return gradeOf(rule, 'unclear', times, doubtful);
  return gradeOf(rule, times > 0 ? 'kept' : 'notSeen', times, []);
}

/**
 * Grades a client by its requests. `counts` of a rule says what breaks it. A world other than the main one belongs
 * to one test; in the main world, several tests may explain repeated requests, which makes a rule `unclear`.
 */
export function scorecardOf(entries: readonly Entry[]): readonly Grade[] {
  return rules.flatMap((rule) => {
    const judge = judges[rule.id];
    return judge === undefined ? [] : gradeFrom(rule, judge(entries));
  });
}
