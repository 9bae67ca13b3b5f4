import type { Answers, ClockShown, JournalEntry, PartName } from './answers.ts';

/** An answer, and when it came (ms of `performance.now()`). */
export type Received<Answer> = Answer & { readonly receivedAt: number };

/** So many more entries of a list are shown with each wish for more. */
export const STEP = 25;

/** So many requests are shown. */
export const MOST_REQUESTS = 100;

/** All that the page knows. */
export const model = {
  /** Name of the world that is shown; the empty text is the main one. */
  world: new URLSearchParams(location.search).get('world') ?? '',
  answers: {} as { [Name in PartName]?: Received<Answers[Name]> },
  /** Newest first. */
  journal: [] as readonly JournalEntry[],
  /** Counts what made everything old: answers of an earlier epoch are of no use. */
  epoch: 0,
  /** Which part of each list is shown. */
  lists: {
    deposits: { limit: STEP, contains: '' },
    keys: { limit: STEP, contains: '' },
    users: { limit: STEP, contains: '' },
  },
  /** Text of the button that copied last. */
  copied: undefined as string | undefined,
};

export type ListName = keyof typeof model.lists;

/** Everything that is known is old; the requests that are known are gone. */
export function beginAnew(world = model.world): void {
  model.world = world;
  model.journal = [];
  model.epoch += 1;
}

/** Adds requests to those that are known, each once. */
export function addToJournal(entries: readonly JournalEntry[]): void {
  const byId = new Map([...model.journal, ...entries].map((entry) => [entry.id, entry]));
  model.journal = [...byId.values()].toSorted((one, other) => other.id - one.id).slice(0, MOST_REQUESTS);
}

/** Unix ms that the clock of the world shows by now. */
export function mockNow(): number {
  const { clock } = model.answers;
  return clock === undefined ? 0 : timeOf(clock, performance.now());
}

/** Unix ms in the mock at which something `ms` after an answer is. */
export function mockTimeAfter(ms: number, { receivedAt }: { readonly receivedAt: number }): number {
  const { clock } = model.answers;
  return clock === undefined ? 0 : timeOf(clock, receivedAt) + ms;
}

const timeOf = ({ now, rate, receivedAt }: Received<ClockShown>, at: number) =>
  now + (at - receivedAt) * rate;
