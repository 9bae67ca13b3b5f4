import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../catalogue/known.ts';

/** A rate limit that the fixture states: so many counted requests of a key in a window. */
export interface RateLimit {
  readonly most: number;
  readonly windowMs: number;
}

/** A longer wait for a limiter (ms) needs a reason: a requirement without an answer, or the next strength. */
export const SHORT_WAIT_MS = 10_000;

/** The stated limits by endpoint. They slow sending, and say after how many requests a 429 is due. */
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
