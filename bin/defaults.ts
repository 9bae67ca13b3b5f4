/** How a run is made unless the user says otherwise. Times are ms. */
export const defaults = { cases: 100, concurrency: 16, timeoutMs: 5000, maxDurationMs: 300_000 } as const;
