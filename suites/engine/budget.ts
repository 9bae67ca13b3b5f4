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

/** What lookups leave for changes of data: a part of the requests, at most so many. */
const [FOR_CHANGES, MAX_FOR_CHANGES] = [2 / 11, 240];

export const forChanges = (maxRequests: number): number =>
  Math.min(MAX_FOR_CHANGES, maxRequests * FOR_CHANGES);

/** The --max-requests with which lookups and required scenarios may send so many. */
export const boundFor = (requests: number, isLimited: boolean, isChanging: boolean): number =>
  requests +
  (isLimited ? MAX_RESERVED : 0) +
  (isChanging ? Math.min(MAX_FOR_CHANGES, (requests * FOR_CHANGES) / (1 - FOR_CHANGES)) : 0);

export type Budget = ReturnType<typeof createBudget>;

/** Hard limits of a run: time, number of requests, request rate. */
export function createBudget(options: BudgetOptions) {
  const { clock, signal, deadline, maxRequests, reserved, rate, maxRealMs } = options;
  const realEnd = maxRealMs === undefined ? Infinity : performance.now() + maxRealMs;
  let spent = 0;
  let nextTurn = Number.NEGATIVE_INFINITY;
  let extra = 0;
  let over: Trouble | undefined;

  /** Why no request may be sent; undefined if one may. `until` (ms): end of work that must leave the reserve. */
  const ended = (until?: number): Trouble | undefined => {
    if (signal.aborted) return trouble('interrupted', 'the run was interrupted');
    if (over !== undefined) return over;
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
    /** Ends the run before its bounds. */
    end: (why: Trouble): void => void (over = why),
    spent: () => spent,
  };
}

/** Of so many replies, so many refusals by a front end show that the load is too high. */
const [WINDOW, MANY] = [16, 4];

/** After so many replies without too many refusals, one request more may be in flight. */
const REPLIES_PER_STEP = 64;

/**
 * Keeps fewer requests in flight while a front end refuses some of them (503 and the like), or breaks connections:
 * each refusal is lost, and a request that is lost again and again counts as answered.
 */
export function createLoad() {
  const waiting: { readonly isAlone: boolean; readonly wake: () => void }[] = [];
  let [inFlight, most] = [0, Infinity];
  let [replies, refusals, sinceStep] = [0, 0, 0];
  let isOneAlone = false;
  const wake = () => {
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      if (isOneAlone || inFlight >= (next.isAlone ? 1 : most)) return;
      inFlight++;
      isOneAlone = next.isAlone;
      waiting.shift()!.wake();
    }
  };
  return {
    inFlight: () => inFlight,
    /** Waits until a request may be in flight. @param isAlone whether no other may be in flight with it */
    begin: (isAlone = false): Promise<void> =>
      new Promise((resolve) => {
        waiting.push({ isAlone, wake: resolve });
        wake();
      }),
    /** Ends it. @param isRefused whether a front end refused it, or the connection broke */
    end: (isRefused: boolean): void => {
      const before = inFlight--;
      isOneAlone = false;
      replies++;
      if (isRefused && before > 1) refusals++;
      if (refusals >= MANY) most = Math.max(1, Math.floor(Math.min(most, before) / 2));
      if (refusals >= MANY || replies >= WINDOW) [replies, refusals] = [0, 0];
      sinceStep = most === Infinity || isRefused ? 0 : sinceStep + 1;
      if (sinceStep >= REPLIES_PER_STEP) [most, sinceStep] = [most + 1, 0];
      wake();
    },
    /** Forgets what was refused, for example while the target was down. */
    reset: (): void => {
      most = Infinity;
      wake();
    },
  };
}
