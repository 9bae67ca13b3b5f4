import { SLACK, type Rule, type Sighting } from './history.ts';

/**
 * Whether a bucket that is refilled steadily may explain a history: one that holds no more than the
 * rule lets through in a window, and wins back no more than that in the same time.
 */
export function mayBeRefilled(history: readonly Sighting[], { most, windowMs }: Rule): boolean {
  const passes = history.filter(({ passed }) => passed).toSorted((a, b) => a.receivedAt - b.receivedAt);
  const refusals = history.filter(({ passed }) => !passed);
  const perMs = Math.min(most / windowMs, 1 / longestWait(passes, refusals));
  /** From `from` on, with so much in the bucket, no more may pass than it wins back. */
  const holds = (from: number, level: number, begins: number) => {
    let certain = 0;
    return passes.every(({ sentAt, receivedAt }) => {
      if (sentAt < begins) return true;
      certain++;
      return certain <= level + perMs * (receivedAt - from + SLACK);
    });
  };
  return (
    passes.every(({ sentAt }) => holds(sentAt, most, sentAt)) &&
    // A bucket that refuses holds less than one.
    refusals.every(({ sentAt, receivedAt }) => holds(sentAt, 1, receivedAt + SLACK))
  );
}

/** The longest time after a pass that did not suffice to win back a single one, in ms. */
function longestWait(passes: readonly Sighting[], refusals: readonly Sighting[]): number {
  let longest = 0;
  for (const refusal of refusals) {
    const last = passes
      .filter(({ sentAt }) => sentAt <= refusal.receivedAt)
      .reduce((latest, { receivedAt }) => Math.max(latest, receivedAt), Number.NEGATIVE_INFINITY);
    if (Number.isFinite(last)) longest = Math.max(longest, refusal.sentAt - last - SLACK);
  }
  return longest;
}
