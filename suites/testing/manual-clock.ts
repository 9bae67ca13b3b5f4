import assert from 'node:assert/strict';
import type { Clock } from '../engine/clock.ts';

/** A clock that only the test moves. */
export function manualClock(start = 0) {
  let now = start;
  const sleepers = new Set<{ readonly at: number; readonly wake: () => void }>();
  /** Lets everything that is ready run. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        assert.ok(ms >= 0 && Number.isFinite(ms), `sleep(${ms})`);
        const wake = () => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        };
        const sleeper = { at: now + ms, wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', wake);
        if (signal?.aborted === true) wake();
      }),
    during: (work) => work,
  };
  return {
    clock,
    settled,
    /** Moves on to the next one who wakes, within the limit; false where there is none. */
    next: async (until = Number.POSITIVE_INFINITY) => {
      await settled();
      const [first] = [...sleepers].toSorted((a, b) => a.at - b.at);
      if (first === undefined || first.at > until) return false;
      now = Math.max(now, first.at);
      first.wake();
      await settled();
      return true;
    },
    /** Moves so many ms, waking everybody on the way. */
    async pass(ms: number) {
      const end = now + ms;
      while (await this.next(end));
      now = end;
    },
  };
}

export type ManualClock = ReturnType<typeof manualClock>;

/** What is waited for, with its state readable at any time. */
export function tracked<Value>(awaited: Value | Promise<Value>) {
  const state: { value?: Value; isDone: boolean } = { isDone: false };
  void Promise.resolve(awaited).then((value) => Object.assign(state, { value, isDone: true }));
  return state;
}

/** What a wait ends in, moving the clock as far as it takes. */
export async function ended<Value>(time: ManualClock, awaited: Value | Promise<Value>): Promise<Value> {
  const state = tracked(awaited);
  await time.settled();
  while (!state.isDone) assert.ok(await time.next(), 'waits for ever');
  return state.value!;
}
