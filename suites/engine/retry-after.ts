import { header, type Answer } from '../answer.ts';

/** Precision of header fields in ms: they round up to seconds. */
export const PRECISION_MS = 1000;

/** Date formats of HTTP: IMF-fixdate, RFC 850 and asctime (RFC 9110 5.6.7). All are UTC. */
const httpDate = /^[A-Za-z]{3,9}, \d\d[ -][A-Za-z]{3}[ -]\d{2,4} \d\d:\d\d:\d\d GMT$/;
const asctimeDate = /^[A-Za-z]{3} [A-Za-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/** Retry-After (RFC 9110 10.2.3), in ms from now; undefined if it is neither seconds nor a date. */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const utc = httpDate.test(text) ? text : asctimeDate.test(text) ? `${text} GMT` : undefined;
  const date = utc === undefined ? Number.NaN : Date.parse(utc);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** How long a 429 asks to wait, in ms; undefined if it does not say. */
export function requestedWaitMs(answer: Answer, now: number): number | undefined {
  // Dates refer to the target's clock.
  const date = Date.parse(header(answer, 'date') ?? '');
  const theirs = Number.isNaN(date) ? now : date;
  const field = (...names: readonly string[]) => names.map((name) => header(answer, name)).find(Boolean);
  const reset =
    field('ratelimit-reset', 'x-ratelimit-reset', 'x-rate-limit-reset') ??
    /\b(?:reset|t)=(\d+)/.exec(field('ratelimit', 'x-ratelimit') ?? '')?.[1];
  const asked = retryAfterMs(header(answer, 'retry-after'), theirs);
  if (asked !== undefined || reset === undefined || !/^\d+$/.test(reset)) return asked;
  // The value is seconds from now, or Unix time.
  return Number(reset) < 1e9 ? Number(reset) * 1000 : Math.max(0, Number(reset) * 1000 - theirs);
}
