import { trouble, type Trouble } from '../answer.ts';
import type { RunOptions } from './run-options.ts';

/** What a run may spend; hard bounds, all of them. */
export interface Budget {
  /** Why nothing more may go out; undefined while something may. Earlier, for what has to end before `until` (ms). */
  readonly ended: (until?: number) => Trouble | undefined;
  /**
   * Takes one request out of the budget, and waits for its turn where there is a rate; trouble where there is none
   * left. A rate is an average: of those that are to go out at once, as many follow the first as it allows in a third
   * of a second, at least one, and the next one waits for all of them.
   */
  readonly spend: (isAtOnce?: boolean) => Promise<Trouble | undefined>;
  /** Requests taken so far. */
  readonly spent: () => number;
}

export interface BudgetOptions extends Pick<RunOptions, 'clock' | 'signal' | 'maxRequests' | 'rate'> {
  /** When the run must end, in ms of the clock. */
  readonly deadline: number;
  /** Requests that are not for what has to end early. */
  readonly keepBack: number;
}

export function createBudget(options: BudgetOptions): Budget {
  const { clock, signal, deadline, maxRequests, keepBack, rate } = options;
  let spent = 0;
  let nextTurn = Number.NEGATIVE_INFINITY;
  let more = 0;

  const ended: Budget['ended'] = (until) => {
    if (signal.aborted) return trouble('interrupted', 'the run was interrupted');
    if (clock.now() >= Math.min(until ?? deadline, deadline))
      return trouble('budget', '--max-duration was reached');
    return spent < maxRequests - (until === undefined ? 0 : keepBack)
      ? undefined
      : trouble('budget', '--max-requests was reached');
  };
  return {
    ended,
    spend: async (isAtOnce = false) => {
      const end = ended();
      if (end !== undefined) return end;
      spent++;
      if (rate === undefined) return undefined;
      // A request that wakes too late must not make up for it: that would be too many at once.
      while (clock.now() < nextTurn) {
        if (isAtOnce && more > 0) {
          more--;
          nextTurn += 1000 / rate;
          return undefined;
        }
        await clock.sleep(Math.min(nextTurn, deadline) - clock.now(), signal);
        if (!signal.aborted && clock.now() < deadline) continue;
        spent--;
        return ended();
      }
      nextTurn = clock.now() + 1000 / rate;
      more = Math.max(1, Math.floor(rate / 3));
      return undefined;
    },
    spent: () => spent,
  };
}
