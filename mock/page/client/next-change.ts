import { mockNow, mockTimeAfter, model } from './model.ts';

/**
 * How long (ms, of real time) until something that is shown falls due by itself: the mock has no
 * timers, and says nothing when it happens. Undefined: nothing will.
 */
export function nextChangeIn(): number | undefined {
  const { clock, deposits, keys, limits } = model.answers;
  if (clock === undefined || clock.rate === 0) return undefined;
  const now = mockNow();
  const times = [
    ...(deposits?.deposits.flatMap(({ dueInMs }) =>
      dueInMs === undefined ? [] : mockTimeAfter(dueInMs, deposits),
    ) ?? []),
    ...(keys?.keys.flatMap(({ state, expiresAt }) =>
      state === 'active' && expiresAt !== undefined ? expiresAt : [],
    ) ?? []),
    ...(limits?.gauges.flatMap(({ freesInMs }) => (freesInMs > 0 ? mockTimeAfter(freesInMs, limits) : [])) ??
      []),
  ];
  return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - now) / clock.rate;
}
