import type { Clock } from '../engine/clock.ts';

/** Instead of a result: it took too long, or nobody waits any more. */
export const late = Symbol('late');

/**
 * What some work comes to, unless it takes longer than so many ms or the signal fires first.
 *
 * @param work gets a signal that cuts it off
 */
export async function within<Result>(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  ms: number,
  work: (cutOff: AbortSignal) => Promise<Result>,
): Promise<Result | typeof late> {
  if (ms <= 0 || signal.aborted) return late;
  const end = new AbortController();
  const either = AbortSignal.any([signal, end.signal]);
  try {
    return await Promise.race([work(either), clock.sleep(ms, either).then((): typeof late => late)]);
  } finally {
    end.abort();
  }
}
