/**
 * A counted request as one sees it from outside: the server met it at an instant that nobody knows,
 * somewhere between its sending and its answer. Times are ms of the engine's clock.
 */
export interface Sighting {
  readonly sentAt: number;
  readonly receivedAt: number;
  /** Whether it was let through; false: 429. */
  readonly passed: boolean;
}

/** So many counted requests are let through in a window of so many ms. */
export interface Rule {
  readonly most: number;
  readonly windowMs: number;
}

/** Clocks that round, on both sides, in ms. */
export const SLACK = 5;

/** Requests of one burst, for people: `at 2.20 s 13 passed within 0.05 s, then 429`. */
export function story(history: readonly Sighting[], windowMs: number): string {
  const ordered = history.toSorted((a, b) => a.sentAt - b.sentAt);
  const first = ordered[0]?.sentAt ?? 0;
  const bursts: Sighting[][] = [];
  for (const sighting of ordered) {
    const burst = bursts.at(-1);
    const isApart = burst === undefined || sighting.sentAt > burst.at(-1)!.sentAt + windowMs / 5;
    if (isApart) bursts.push([sighting]);
    else burst.push(sighting);
  }
  return bursts
    .map((burst) => {
      const passed = burst.filter((sighting) => sighting.passed).length;
      const from = burst[0]!.sentAt;
      const took = Math.max(...burst.map(({ receivedAt }) => receivedAt)) - from;
      const end = passed === burst.length ? '' : passed === 0 ? '' : ', then 429';
      const what = passed === 0 ? '429' : `${passed} passed within ${seconds(took)}${end}`;
      return `at ${seconds(from - first)} ${what}`;
    })
    .join('; ');
}

/** 2,200 ms as `2.20 s`. */
export const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
