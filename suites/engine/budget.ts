import { trouble, type Trouble } from '../answer.ts';
import type { RunOptions } from './run-options.ts';

export interface BudgetOptions extends Pick<
  RunOptions,
  'clock' | 'signal' | 'maxRequests' | 'rate' | 'maxRealMs'
> {
  /** When the run must end, in ms of the clock. */
  readonly deadline: number;
  /** Requests that are left for the end of the run. */
  readonly reserved: number;
}

const [RESERVED, MAX_RESERVED] = [1 / 20, 10];
const [RESERVED_TIME, MAX_RESERVED_MS] = [1 / 6, 15_000];

/** What lookups leave for the limits, which come last: a part of the bounds, at most so many requests and ms. */
export const reserveOf = (isLimited: boolean, maxRequests: number, maxDurationMs: number) => ({
  requests: isLimited ? Math.min(MAX_RESERVED, maxRequests * RESERVED) : 0,
  ms: isLimited ? Math.min(MAX_RESERVED_MS, maxDurationMs * RESERVED_TIME) : 0,
});

export type Budget = ReturnType<typeof createBudget>;

/** Hard limits of a run: time, number of requests, request rate. */
export function createBudget(options: BudgetOptions) {
  const { clock, signal, deadline, maxRequests, reserved, rate, maxRealMs } = options;
  const realEnd = maxRealMs === undefined ? Infinity : performance.now() + maxRealMs;
  let spent = 0;
  let nextTurn = Number.NEGATIVE_INFINITY;
  let extra = 0;

  /** Why no request may be sent; undefined if one may. `until` (ms): end of work that must leave the reserve. */
  const ended = (until?: number): Trouble | undefined => {
    if (signal.aborted) return trouble('interrupted', 'the run was interrupted');
    const isLate = realEnd < Infinity && performance.now() >= realEnd;
    if (isLate || clock.now() >= Math.min(until ?? deadline, deadline))
      return trouble('budget', '--max-duration was reached');
    return spent < maxRequests - (until === undefined ? 0 : reserved)
      ? undefined
      : trouble('budget', '--max-requests was reached');
  };
  return {
    ended,
    /**
     * Takes one request from the budget and waits for the rate limiter (--rate). Returns trouble if the budget
     * is used up.
     *
     * @param isAtOnce whether the request belongs to a group that is sent together: up to a third of a second's
     * worth of requests may follow the first one at once. The next request waits for all of them, so that the
     * average rate stays.
     */
    spend: async (isAtOnce = false): Promise<Trouble | undefined> => {
      const end = ended();
      if (end !== undefined) return end;
      spent++;
      if (rate === undefined) return undefined;
      // A sleep may end late. The next turns are not moved forward then: too many requests would be sent at once.
      while (clock.now() < nextTurn) {
        if (isAtOnce && extra > 0) {
          extra--;
          nextTurn += 1000 / rate;
          return undefined;
        }
        await clock.sleep(Math.min(nextTurn, deadline) - clock.now(), signal);
        if (!signal.aborted && clock.now() < deadline) continue;
        spent--;
        return ended();
      }
      nextTurn = clock.now() + 1000 / rate;
      extra = Math.max(1, Math.floor(rate / 3));
      return undefined;
    },
    spent: () => spent,
  };
}
