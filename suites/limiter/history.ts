/**
 * A counted request as it looks from outside: the server met it at an unknown instant between its sending
 * and its answer. Times are ms of the engine's clock.
 */
export interface Sighting {
  readonly sentAt: number;
  /** Infinity for a lost request. */
  readonly receivedAt: number;
  /**
   * `refused`: 429. `lost`: no answer, or one that says neither: the server may have counted it or not.
   * `other`: one of another kind, of which nobody knows whether it counts.
   */
  readonly result: 'passed' | 'refused' | 'lost' | 'other';
  /** What came in place of a pass or a 429: `503`, or what happened to the connection. */
  readonly words?: string;
}

/** Counted requests from rest: since when, and what became of each, in the order of sending. */
export interface Burst {
  /** ms of the engine's clock; no request of the run was sent for two windows before it. */
  readonly startedAt: number;
  readonly history: readonly Sighting[];
  /** Requests under way at the same time, at most. */
  readonly inFlight: number;
}

/** At most so many counted requests pass in a window of so many ms. */
export interface Rule {
  readonly most: number;
  readonly windowMs: number;
}

/** Rounding of clocks, on both sides, in ms. */
export const SLACK = 5;

/** What happened in a burst, for people: `60 passed within 0.05 s, then 429; after 0.90 s: 4 passed within 0.01 s`. */
export function story(history: readonly Sighting[], startedAt: number, windowMs: number): string {
  const bursts: Sighting[][] = [];
  for (const sighting of history.toSorted((a, b) => a.sentAt - b.sentAt)) {
    const last = bursts.at(-1)?.at(-1);
    if (last === undefined || sighting.sentAt > last.sentAt + windowMs / 5) bursts.push([sighting]);
    else bursts.at(-1)!.push(sighting);
  }
  return bursts
    .map((burst, at) => {
      const passed = burst.filter(({ result }) => result === 'passed');
      const other = burst.find(({ result }) => result !== 'passed');
      const end = other === undefined ? '' : `, then ${other.words ?? '429'}`;
      const took = seconds(
        Math.max(startedAt, ...passed.map(({ receivedAt }) => receivedAt)) - burst[0]!.sentAt,
      );
      const what =
        passed.length === 0 ? (other?.words ?? '429') : `${passed.length} passed within ${took}${end}`;
      return at === 0 ? what : `after ${seconds(burst[0]!.sentAt - startedAt)}: ${what}`;
    })
    .join('; ');
}

/** 2,200 ms as `2.20 s`. */
export const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;
