/** How the clock of a mock begins. */
export type ClockMode = (typeof clockModes)[number];

/** `real` runs, `frozen` stands still, `poll` runs and makes a step with each poll of a pending deposit. */
export const clockModes = ['real', 'frozen', 'poll'] as const;

/** How far (ms) a poll moves a clock in the mode `poll`. */
export const POLL_STEP = 1000;

/**
 * The time of a world, told from a base clock that is passed in: at the base time `since` it was `at`,
 * and from there on it passes `rate` times as fast. All times in ms, `at` in Unix ms.
 */
export interface Clock {
  readonly mode: ClockMode;
  readonly at: number;
  readonly since: number;
  /** 0: it stands still. */
  readonly rate: number;
  /** How far (ms) it was set back in all, and with it the beginning of its world. */
  readonly setBack: number;
}

/** A clock that shows the base time at first. */
export function startClock(mode: ClockMode, base: number): Clock {
  return { mode, at: base, since: base, rate: mode === 'frozen' ? 0 : 1, setBack: 0 };
}

/** A clock set back: its world has to be shifted as far. */
export function setBackBy(clock: Clock, ms: number): Clock {
  return { ...clock, setBack: clock.setBack + ms };
}

/** The last Unix ms with a year of four digits, as Date has it: there a clock stands still. */
export const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Unix ms that a clock shows at a base time. */
export function timeOf({ at, since, rate }: Clock, base: number): number {
  return Math.min(LATEST, rate === 1 ? at + base - since : Math.floor(at + (base - since) * rate));
}

/** The clock, showing another time (Unix ms) and going on from there. */
export function setTo(clock: Clock, base: number, at: number): Clock {
  return { ...clock, at, since: base };
}

/** The clock, so many ms further. */
export function advanced(clock: Clock, base: number, ms: number): Clock {
  return setTo(clock, base, timeOf(clock, base) + ms);
}

/** The clock, passing so many times as fast as the base from now on; 0 freezes it. */
export function scaled(clock: Clock, base: number, rate: number): Clock {
  return { ...setTo(clock, base, timeOf(clock, base)), rate };
}
