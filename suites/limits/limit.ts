import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';

/** Which requests a limiter counts together: those of a key on one endpoint or on both, or those of all keys. */
export const scopes = ['key', 'key on both endpoints', 'endpoint', 'service'] as const;

export type Scope = (typeof scopes)[number];

/** A rate limit: at most `most` counted requests pass in a window. */
export interface RateLimit {
  readonly most: number;
  readonly windowMs: number;
  /** By default `key`. */
  readonly scope?: Scope;
}

/** Where a run has a limit from: the fixture or a flag, header fields, or refusals. */
export type LimitSource = 'stated' | 'advertised' | 'learned';

/** More requests than two consecutive windows let pass. */
export const burstSize = ({ most }: RateLimit): number => 2 * most + 2;

/** How late (ms) a limiter may count a request, in proportion to its window. */
export const lateMs = ({ windowMs }: RateLimit): number => Math.min(15, windowMs / 200);

/** Maximum window (ms) in which it is worth another wait to see what else counts. */
export const MAX_WINDOW_TO_COUNT = 10_000;

/** Windows of rest before a burst, and windows that a burst takes, with a margin. */
export const [REST_WINDOWS, BURST_WINDOWS] = [2, 1.5];

/** Time (ms) to compare a correct limiter: a rest, a burst, and a window to see what else counts. */
export const explorationMs = (windowMs: number): number =>
  (REST_WINDOWS + BURST_WINDOWS + (windowMs > MAX_WINDOW_TO_COUNT ? 0 : 0.5)) * windowMs;

/** A longer wait for a limiter (ms) needs a reason: a requirement without an answer, or the next strength. */
export const SHORT_WAIT_MS = 10_000;

/**
 * A key that gets 429 after so many ms in which nothing was sent with it does not recover.
 *
 * @param windows the windows that are known, in ms
 * @param wantedMs how long the last 429 asks to wait
 */
export const decidingMs = (windows: readonly (number | undefined)[], wantedMs = 0): number =>
  Math.max(60_000, wantedMs, ...windows.map((ms = 0) => 2 * ms));

/** The stated limits by endpoint. */
export const statedLimits = ({
  limits,
}: Pick<Known, 'limits'>): Readonly<Partial<Record<Endpoint, RateLimit>>> =>
  Object.fromEntries(
    Object.entries(limits).map(([endpoint, limit]) => {
      const most = 'failedLookups' in limit ? limit.failedLookups : limit.requests;
      return [endpoint, { most, windowMs: limit.windowSeconds * 1000 }];
    }),
  );

/** The limit that the fixture states for an endpoint. */
export const statedLimit = (endpoint: Endpoint, known: Pick<Known, 'limits'>): RateLimit | undefined =>
  statedLimits(known)[endpoint];

/** `5 min`, `297 s`, `1.5 s` */
export const describeMs = (ms: number): string =>
  ms > 0 && ms % 60_000 === 0
    ? `${ms / 60_000} min`
    : `${ms < 10_000 ? Number((ms / 1000).toPrecision(2)) : Math.round(ms / 1000)} s`;

/** `20 in 5 min`, `250 in 3 s` */
export const describeLimit = ({ most, windowMs }: RateLimit): string => `${most} in ${describeMs(windowMs)}`;
