import { header, type Answer } from '../answer.ts';

/** What an answer says is left of a limit. Times are in ms of the engine's clock. */
export interface Advertised {
  /** The field that says so. */
  readonly field: string;
  readonly remaining: number;
  readonly resetAt: number;
  /** When the request of this answer was sent. */
  readonly at: number;
}

/** A limit that an answer names: so many requests in a window. */
export interface Policy {
  readonly field: string;
  readonly most: number;
  readonly windowMs: number;
}

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

/** Fields that say how many requests are left and when that changes, by the names that servers use. */
const names = {
  limit: ['ratelimit-limit', 'x-ratelimit-limit', 'x-rate-limit-limit'],
  remaining: ['ratelimit-remaining', 'x-ratelimit-remaining', 'x-rate-limit-remaining'],
  reset: ['ratelimit-reset', 'x-ratelimit-reset', 'x-rate-limit-reset'],
} as const;

/** Longest number of digits that is read: more is no number of seconds or requests. */
const WHOLE = /^\d{1,15}$/;

/** The first of these fields with a whole number. */
function numberIn(answer: Answer, fields: readonly string[]) {
  for (const field of fields) {
    // Older drafts put the policy behind a comma: `100, 100;w=60`.
    const value = header(answer, field)?.split(',')[0]!.trim();
    if (value !== undefined && WHOLE.test(value)) return { field, value: Number(value) };
  }
  return undefined;
}

/** Unix times are larger than this, and numbers of seconds from now are smaller. */
const EARLIEST_UNIX_S = 1e9;

/** A reset in ms from now: seconds, or a Unix time in seconds or ms by the target's clock. */
function resetMs(value: number, theirs: number): number {
  if (value < EARLIEST_UNIX_S) return value * 1000;
  return Math.max(0, (value < 1000 * EARLIEST_UNIX_S ? value * 1000 : value) - theirs);
}

/** The target's time, by its Date field. */
function timeOf(answer: Answer, now: number): number {
  const date = Date.parse(header(answer, 'date') ?? '');
  return Number.isNaN(date) ? now : date;
}

/** Items of a structured field, such as `"default";q=100;w=60, "daily";q=1000;w=86400` (RFC 9651). */
const itemsOf = (text: string): readonly ReadonlyMap<string, string>[] =>
  text.split(',').map((item) => {
    const [, ...parameters] = item.split(';').map((part) => part.trim());
    const [name = ''] = item.split(';');
    const all = [...parameters, ...(name.includes('=') ? [name.trim()] : [])];
    return new Map([
      ['', name.trim()],
      ...all.map((one): [string, string] => {
        const [key = '', value = ''] = one.split('=');
        return [key.trim().toLowerCase(), value.trim()];
      }),
    ]);
  });

/**
 * What `RateLimit` says: `"default";r=0;t=30`, or `limit=100, remaining=0, reset=30` in an older draft. Without a number
 * of remaining requests, it is Infinity.
 */
function rateLimitField(answer: Answer): { readonly remaining: number; readonly reset: number } | undefined {
  const text = header(answer, 'ratelimit') ?? header(answer, 'x-ratelimit');
  if (text === undefined) return undefined;
  const items = itemsOf(text);
  const all = new Map(items.flatMap((item) => [...item]));
  const read = (of: ReadonlyMap<string, string>, ...keys: readonly string[]) => {
    const value = keys.map((key) => of.get(key)).find((one) => one !== undefined && WHOLE.test(one));
    return value === undefined ? undefined : Number(value);
  };
  const found = [...items, all].flatMap((item) => {
    const [remaining = Infinity, reset] = [read(item, 'r', 'remaining'), read(item, 't', 'reset')];
    return reset === undefined ? [] : [{ remaining, reset }];
  });
  // Of several limits, the one that ends the requests first counts.
  return found.toSorted((a, b) => a.remaining - b.remaining || a.reset - b.reset)[0];
}

/** What an answer says is left; undefined if it does not say. */
export function advertisedBy(answer: Answer, now: number): Advertised | undefined {
  const of = (field: string, remaining: number, reset: number) => ({
    field,
    remaining,
    resetAt: now + resetMs(reset, timeOf(answer, now)),
    at: answer.sentAt,
  });
  const structured = rateLimitField(answer);
  if (structured !== undefined && structured.remaining < Infinity)
    return of('RateLimit', structured.remaining, structured.reset);
  const remaining = numberIn(answer, names.remaining);
  const reset = numberIn(answer, names.reset);
  return remaining && reset && of(remaining.field, remaining.value, reset.value);
}

/** How long a 429 asks to wait, in ms, and the field that says so. */
export interface RequestedWait {
  readonly ms: number;
  readonly field: string;
}

/** A year, in ms: what asks for more is for ever. */
const FOR_EVER_MS = 365 * 86_400_000;

/** What a 429 asks for, at most a year. Retry-After counts first. */
export function requestedWait(answer: Answer, now: number): RequestedWait | undefined {
  // Dates refer to the target's clock.
  const theirs = timeOf(answer, now);
  const wait = (field: string, ms: number) => ({ field, ms: Math.min(ms, FOR_EVER_MS) });
  const asked = retryAfterMs(header(answer, 'retry-after'), theirs);
  if (asked !== undefined) return wait('Retry-After', asked);
  const structured = rateLimitField(answer);
  if (structured !== undefined) return wait('RateLimit', resetMs(structured.reset, theirs));
  const reset = numberIn(answer, names.reset);
  return reset && wait(reset.field, resetMs(reset.value, theirs));
}

const policyFields = ['ratelimit-policy', 'x-ratelimit-policy', ...names.limit];

/** The limits that an answer names: `RateLimit-Policy`, or the policy in `RateLimit-Limit`. */
export function policiesOf(answer: Answer): readonly Policy[] {
  return policyFields.flatMap((field) => {
    const text = header(answer, field);
    // Most answers name no limit.
    if (text === undefined) return [];
    return itemsOf(text).flatMap((item) => {
      const [most, window] = [item.get('q') ?? item.get('') ?? '', item.get('w') ?? ''];
      return WHOLE.test(most) && WHOLE.test(window) && Number(most) > 0 && Number(window) > 0
        ? [{ field, most: Number(most), windowMs: Number(window) * 1000 }]
        : [];
    });
  });
}
