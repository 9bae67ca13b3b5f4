/** A counted request. The server counted it at some time from `sentAt` to `receivedAt` (ms of the engine's clock). */
export interface TimedRequest {
  readonly sentAt: number;
  /** Infinity if it is lost. */
  readonly receivedAt: number;
  /**
   * `refused`: 429. `lost`: no answer, or one that does not show if the server counted it. `other`: a request of
   * another kind, which may count.
   */
  readonly result: 'passed' | 'refused' | 'lost' | 'other';
  /** What came instead: a status such as `503`, or a network error. */
  readonly words?: string;
}

/** Counted requests sent to a limiter at rest, in the order of sending. */
export interface Burst {
  /** In ms of the engine's clock. No request was sent for two windows before it. */
  readonly startedAt: number;
  readonly history: readonly TimedRequest[];
  /** Maximum number of requests in flight at the same time. */
  readonly inFlight: number;
}

/** Tolerance for clock rounding, in ms. */
export const TOLERANCE_MS = 5;

/** Describes a burst: `60 passed within 0.05 s, then 429; after 0.90 s: 4 passed within 0.01 s`. */
export function describeBurst(history: readonly TimedRequest[], startedAt: number, windowMs: number): string {
  const bursts: TimedRequest[][] = [];
  for (const request of history.toSorted((a, b) => a.sentAt - b.sentAt)) {
    const last = bursts.at(-1)?.at(-1);
    if (last === undefined || request.sentAt > last.sentAt + windowMs / 5) bursts.push([request]);
    else bursts.at(-1)!.push(request);
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
