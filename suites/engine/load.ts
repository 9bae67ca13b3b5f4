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
