import { version } from './version.ts';

/** How a run is made where nobody says otherwise. Times are ms. */
export const defaults = { cases: 100, concurrency: 16, timeoutMs: 5000, maxDurationMs: 300_000 } as const;

/** Sent with every request. */
export const ourHeaders = { 'user-agent': `ib-conformance/${version}`, accept: 'application/json' } as const;
