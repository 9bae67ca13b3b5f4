import type { JournalEntry } from '../../mock/control/journal.ts';

/** An entry of the journal, as far as it is judged. */
type Entry = Pick<
  JournalEntry,
  | 'at'
  | 'elapsedMs'
  | 'durationMs'
  | 'world'
  | 'method'
  | 'target'
  | 'endpoint'
  | 'status'
  | 'retryAfterSeconds'
>;

/** A request of a run. */
export interface SeenRequest extends Entry {
  /** Method, target and key as sent, with the world. Do not print it. */
  readonly lookup: string;
  /** Number of its connection. */
  readonly connection?: number | undefined;
  /** Whether the state changed the answer. */
  readonly isChanged: boolean;
  /** Whether a test had set up its world before, such as with `next`: that may explain the request. */
  readonly isSetUp: boolean;
  /** Where else than in Authorization the key of the run was. */
  readonly keyIn?: 'target' | 'field' | undefined;
}

/** The requests of one method, target, key and world, in their order. */
export type Lookup = readonly SeenRequest[];

/** What a run showed. */
export interface RunFacts {
  readonly isGreen: boolean;
  /** Whether it took the maximum duration. */
  readonly isStopped: boolean;
  readonly durationMs: number;
  readonly requests: readonly SeenRequest[];
  /** Lines of output: all, those with the key of the run, and those with it that may tell of a failed test. */
  readonly output: { readonly lines: number; readonly withKey: number; readonly inFailure: number };
  /** Whether the key arrived at the origin of the redirect. */
  readonly isKeyElsewhere: boolean;
}

/** Minimum pause between polls, and on average between repeats, in ms. */
export const PAUSE_MS = 20;
/** Fewer repeats may be as short as this by chance. */
export const MIN_REPEATS = 6;

export function lookupsIn(requests: readonly SeenRequest[]): readonly Lookup[] {
  const lookups = new Map<string, SeenRequest[]>();
  for (const request of requests)
    if (lookups.get(request.lookup)?.push(request) === undefined) lookups.set(request.lookup, [request]);
  return [...lookups.values()];
}

/** The requests that no test has set its world up for. */
export const plainOf = ({ requests }: Pick<RunFacts, 'requests'>) =>
  requests.filter(({ isSetUp }) => !isSetUp);

/** Returns the most requests of one lookup, by target: names of worlds may differ from run to run. */
export function mostOf(requests: readonly SeenRequest[]): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  for (const lookup of lookupsIn(requests)) {
    const { target } = lookup[0]!;
    most.set(target, Math.max(most.get(target) ?? 0, lookup.length));
  }
  return most;
}

/**
 * Returns the ms from each answer to the next request. The clock of the mock may have been moved, so the longer time
 * counts.
 */
export const pausesIn = (lookup: Lookup): readonly number[] =>
  lookup.slice(1).map((to, index) => {
    const from = lookup[index]!;
    return Math.max(to.at - from.at, to.elapsedMs - from.elapsedMs) - (from.durationMs ?? 0);
  });

/** A lookup that a state refused at first, and how it went on. */
export interface Attempt {
  readonly lookup: Lookup;
  /** Ms from each refusal to the next request. */
  readonly pauses: readonly number[];
  /** Most requests of the lookup in the unchanged run. */
  readonly usual: number;
  /** Whether more requests came than in the unchanged run. */
  readonly isRepeated: boolean;
  /** Whether the state refused the last request, too. */
  readonly isGivenUp: boolean;
  /** Whether one test sends the lookup once, so that the client sent each other request. */
  readonly isOwn: boolean;
}

/** Returns the lookups that a state refused at first. */
export function attemptsIn(run: Pick<RunFacts, 'requests'>, unchanged: RunFacts): readonly Attempt[] {
  // States do not change the answer to a wrong key.
  const most = mostOf(plainOf(unchanged).filter(({ status }) => status !== 401));
  const setUp = new Set(run.requests.flatMap(({ isSetUp, world }) => (isSetUp ? world : [])));
  return lookupsIn(plainOf(run)).flatMap((lookup) => {
    const refused = lookup.filter(({ isChanged }) => isChanged).length;
    if (refused === 0) return [];
    const usual = most.get(lookup[0]!.target) ?? 1;
    const { isChanged, world } = lookup.at(-1)!;
    return [
      {
        lookup,
        // A pause belongs to the answer before it.
        pauses: pausesIn(lookup).filter((_, at) => lookup[at]!.isChanged),
        usual,
        isRepeated: lookup.length > usual,
        isGivenUp: isChanged && !setUp.has(world),
        isOwn: usual === 1 && lookup.length === refused + 1 && !isChanged,
      },
    ];
  });
}

/** What requests say about a rule; undefined: nothing. */
export type Kind = 'kept' | 'broken' | 'unclear' | undefined;

/** Whether pauses (ms) differ by at most 20 % and 10 ms. */
export const areEqual = (...pauses: readonly number[]) =>
  Math.max(...pauses) <= 1.2 * Math.min(...pauses) + 10;

/** Whether the last pause (ms) was clearly longer than the first, and none much shorter than the one before. */
const grows = (pauses: readonly number[]) =>
  pauses.at(-1)! > pauses[0]! &&
  !areEqual(pauses[0]!, pauses.at(-1)!) &&
  pauses.every((pause, at) => 1.2 * pause > (pauses[at - 1] ?? -1));

/** Whether pauses (ms) differ by so little that even a busy machine made none of them longer. */
const areClose = (...pauses: readonly number[]) => Math.max(...pauses) <= 1.1 * Math.min(...pauses) + 10;
const falls = (pauses: readonly number[]) =>
  pauses.every((pause, at) => pause < 0.7 * (pauses[at - 1] ?? Infinity));

/** Judges whether a client waited. Without a pause, a busy machine still takes some ms; random pauses are short at times. */
export function judgeWait(attempts: readonly Attempt[]): Kind {
  const pauses = attempts.flatMap((one) => one.pauses);
  const average = pauses.reduce((sum, pause) => sum + pause, 0) / pauses.length;
  if (average >= PAUSE_MS || attempts.every((one) => grows(one.pauses))) return 'kept';
  return pauses.length < MIN_REPEATS ? undefined : 'broken';
}

/**
 * Judges whether each pause was longer than the one before. Random pauses get shorter by chance, and a busy machine makes
 * any pause longer: only two lookups with the same pauses, even or falling, or no pauses at all, show that they do not grow.
 */
export function judgeGrowth(attempts: readonly Attempt[]): Kind {
  const lists = attempts.map(({ pauses }) => pauses).filter(({ length }) => length >= 2);
  const [first] = lists;
  if (first === undefined) return undefined;
  if (lists.every(grows)) return 'kept';
  const isLikeFirst = (pauses: readonly number[]) =>
    pauses.every((pause, at) => areClose(pause, first[at] ?? Infinity));
  const isSame = lists.every(isLikeFirst) && (lists.every((one) => areClose(...one)) || lists.every(falls));
  const isNone = Math.max(...lists.flat()) < PAUSE_MS || judgeWait(attempts) === 'broken';
  return (isSame && lists.length > 1) || isNone ? 'broken' : 'unclear';
}
