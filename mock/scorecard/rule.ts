import type { Entry } from './entries.ts';

/** What entries show of a rule: how often it could be seen, and the entries that break it. */
export interface Shown {
  readonly times: number;
  readonly broken: readonly Entry[];
}

/** Something that a good client does. */
export interface Rule {
  readonly id: string;
  /** Said of a client that keeps it. */
  readonly title: string;
  /** Where the interface asks for it; missing where good manners do. */
  readonly clause?: string;
  /** What to do where it is broken. */
  readonly advice: string;
  /** What has to happen for it to be seen. */
  readonly needs: string;
  /** @param graceMs requests that come this soon (ms) after an answer may have been in flight with it */
  readonly judge: (entries: readonly Entry[], graceMs: number) => Shown;
}

/** What several groups of entries show together. */
export const together = (all: readonly Shown[]): Shown => ({
  times: all.reduce((sum, { times }) => sum + times, 0),
  broken: all.flatMap(({ broken }) => broken),
});
