import { setTimeout } from 'node:timers/promises';
import { defined } from '../../schemas/defined.ts';

/** The engine's time. All of its waits go through here. */
export interface Clock {
  /** Unix time in ms. */
  readonly now: () => number;
  /** Waits so many ms; ends early, without an error, when the signal fires. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Work that takes time: a clock that is not real stands still meanwhile. */
  readonly during: <Result>(work: Promise<Result>) => Promise<Result>;
}

const { timeOrigin } = performance;

/** The time of the machine. */
export const realClock: Clock = {
  // Never goes back, whatever happens to the time of day.
  now: () => timeOrigin + performance.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, defined({ signal })).catch(() => undefined),
  during: (work) => work,
};

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/**
 * A time that stands still while anything is under way; once everybody waits it goes on to the one
 * who wakes first. Waits cost nothing.
 */
export function virtualClock(start: number): Clock {
  const sleepers = new Set<Sleeper>();
  let now = start;
  let underWay = 0;
  let turning = false;

  // Whatever is ready comes first, and may begin something new.
  const goOn = () => {
    if (turning || underWay > 0 || sleepers.size === 0) return;
    turning = true;
    setImmediate(turn);
  };
  const turn = () => {
    turning = false;
    if (underWay > 0) return;
    let first: Sleeper | undefined;
    for (const one of sleepers) if (first === undefined || one.at < first.at) first = one;
    if (first === undefined) return;
    now = Math.max(now, first.at);
    sleepers.delete(first);
    first.wake();
    goOn();
  };

  return {
    now: () => now,
    sleep: (ms) =>
      new Promise((wake) => {
        sleepers.add({ at: now + ms, wake });
        goOn();
      }),
    during: async (work) => {
      underWay++;
      try {
        return await work;
      } finally {
        underWay--;
        goOn();
      }
    },
  };
}
