/** The engine's time. All of its waits go through here. */
export interface Clock {
  /** Unix time in ms. */
  readonly now: () => number;
  /** Real time in ms from an arbitrary zero, also where `now` is not real: for what a run took. */
  readonly stopwatch: () => number;
  /** Waits so many ms; ends early, without an error, when the signal fires. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** The time of the machine. */
export const realClock: Clock = {
  now: () => Date.now(),
  stopwatch: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done);
      if (signal?.aborted === true) done();
    }),
};

/** A time that stands still but for the waits: they cost nothing and end at once. */
export function virtualClock(start: number): Clock {
  let now = start;
  return {
    now: () => now,
    stopwatch: () => performance.now(),
    sleep: async (ms) => {
      const end = now + ms;
      await new Promise(setImmediate);
      now = Math.max(now, end);
    },
  };
}
