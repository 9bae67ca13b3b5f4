import assert from 'node:assert/strict';
import { once } from 'node:events';
import { virtualClock, type Clock } from '../engine/clock.ts';

/** A clock that the test moves. */
export function manualClock(start = 0) {
  const { now, sleep, during } = virtualClock(start);
  const stop = () => {
    let release = () => {};
    void during(new Promise<void>((resolve) => (release = resolve)));
    return release;
  };
  let release = stop();
  /** Lets time pass until a promise settles. */
  const until = async <Value>(awaited: Value | Promise<Value>): Promise<Value> => {
    release();
    const value = await awaited;
    release = stop();
    return value;
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const clock: Clock = {
    now,
    sleep: async (ms, signal) => {
      assert.ok(ms >= 0 && Number.isFinite(ms), `sleep(${ms})`);
      if (signal?.aborted === true) return;
      await Promise.race([sleep(ms), ...(signal === undefined ? [] : [once(signal, 'abort')])]);
    },
    during: (work) => work,
  };
  return {
    clock,
    settled,
    until,
    /** Moves the clock by `ms` and wakes sleepers on the way. */
    advance: async (ms: number) => {
      await until(sleep(ms));
      await until(sleep(0));
      await settled();
    },
  };
}

/** Tracks whether a promise is done. */
export function track<Value>(awaited: Value | Promise<Value>) {
  const state: { value?: Value; isDone: boolean } = { isDone: false };
  void Promise.resolve(awaited).then((value) => Object.assign(state, { value, isDone: true }));
  return state;
}
