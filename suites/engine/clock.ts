import { setTimeout } from 'node:timers/promises';
import { defined } from '../../schemas/values.ts';

/** The engine's clock. All waits use it. */
export interface Clock {
  /** Unix time in ms. */
  readonly now: () => number;
  /** Waits `ms`. Returns early, without an error, when the signal fires. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Runs work that takes real time. A virtual clock stands still meanwhile. */
  readonly during: <Result>(work: Promise<Result>) => Promise<Result>;
}

const { timeOrigin } = performance;

export const realClock: Clock = {
  // Monotonic, even if the system clock is changed.
  now: () => timeOrigin + performance.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, defined({ signal })).catch(() => undefined),
  during: (work) => work,
};

/** A clock that stands still while work runs, and jumps ahead when all tasks sleep. Waits cost no time. */
export function virtualClock(start: number): Clock {
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  let now = start;
  let running = 0;
  let isScheduled = false;

  // Tasks that are ready run first and may start new work.
  const scheduleStep = () => {
    if (isScheduled || running > 0 || sleepers.size === 0) return;
    isScheduled = true;
    setImmediate(step);
  };
  const step = () => {
    isScheduled = false;
    if (running > 0) return;
    let [first] = sleepers;
    for (const one of sleepers) if (one.at < first!.at) first = one;
    if (first === undefined) return;
    now = Math.max(now, first.at);
    sleepers.delete(first);
    first.wake();
    scheduleStep();
  };

  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const stop = () => {
          sleepers.delete(sleeper);
          sleeper.wake();
        };
        const wake = () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        };
        const sleeper = { at: now + ms, wake };
        if (signal?.aborted === true) return resolve();
        signal?.addEventListener('abort', stop);
        sleepers.add(sleeper);
        scheduleStep();
      }),
    during: async (work) => {
      running++;
      try {
        return await work;
      } finally {
        running--;
        scheduleStep();
      }
    },
  };
}
