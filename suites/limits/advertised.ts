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

/** How long a 429 asks to wait, in ms, and the field that says so. */
export interface RequestedWait {
  readonly ms: number;
  readonly field: string;
}

/** A number of seconds or requests. One with more digits is none. */
const WHOLE = /^\d{1,15}$/;

/** Date formats of HTTP: IMF-fixdate, RFC 850 and asctime (RFC 9110 5.6.7). All are UTC. */
const httpDate = /^[A-Za-z]{3,9},? [-\w ]+ \d\d:\d\d:\d\d( GMT| \d{4})$/;

/** Retry-After (RFC 9110 10.2.3), in ms from now; undefined if it is neither seconds nor a date. */
function retryAfterMs(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = httpDate.test(text) ? Date.parse(text.replace(/( GMT)?$/, ' GMT')) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Unix times are larger than this, and numbers of seconds from now are smaller. */
const EARLIEST_UNIX_S = 1e9;

/** A reset in ms from now: seconds, or a Unix time in seconds or ms. */
function resetMs(value: number | undefined, now: number): number | undefined {
  if (value === undefined || value < EARLIEST_UNIX_S) return value && value * 1000;
  return Math.max(0, (value < 1000 * EARLIEST_UNIX_S ? value * 1000 : value) - now);
}

/**
 * The numbers in each item of a structured field, such as `"default";q=100;w=60, "daily";q=1000;w=86400` (RFC 9651).
 * One without a name has the name `''`, as in `100;w=60`.
 */
const itemsIn = (answer: Answer, field: string): readonly Readonly<Record<string, number>>[] =>
  (header(answer, field)?.split(',') ?? []).map((item) =>
    Object.fromEntries(
      item.split(';').flatMap((part) => {
        const [value = '', name = ''] = part.split('=').toReversed();
        return WHOLE.test(value.trim()) ? [[name.trim().toLowerCase(), Number(value)]] : [];
      }),
    ),
  );

/**
 * What `RateLimit` says: `"default";r=0;t=30`, or `limit=100, remaining=0, reset=30` in an older draft. Of several limits,
 * the one that ends the requests first counts.
 */
function rateLimitOf(answer: Answer) {
  const items = ['ratelimit', 'x-ratelimit'].flatMap((field) => itemsIn(answer, field));
  return [...items, Object.assign({}, ...items) as (typeof items)[number]]
    .map((item) => ({ remaining: item['r'] ?? item['remaining'], reset: item['t'] ?? item['reset'] }))
    .filter(({ reset }) => reset !== undefined)
    .toSorted((a, b) => (a.remaining ?? Infinity) - (b.remaining ?? Infinity) || a.reset! - b.reset!)[0];
}

/** Beginnings of the names of fields with one number. */
const prefixes = ['ratelimit-', 'x-ratelimit-', 'x-rate-limit-'];

/** A year, in ms: what asks for more is for ever. */
const FOR_EVER_MS = 365 * 86_400_000;

/** Whether any field is about limits: most answers have none. */
function namesLimit({ headers }: Answer): boolean {
  for (const name in headers) if (/^retry-after$|rate-?limit/.test(name)) return true;
  return false;
}

/** How many requests each field says are left, and when it says that this changes, in ms from now. */
function saidBy(answer: Answer, now: number) {
  if (!namesLimit(answer)) return [];
  // Dates refer to the target's clock.
  const date = Date.parse(header(answer, 'date') ?? '');
  const theirs = Number.isNaN(date) ? now : date;
  const { remaining, reset } = rateLimitOf(answer) ?? {};
  return [
    { wait: 'Retry-After', ms: retryAfterMs(header(answer, 'retry-after'), theirs) },
    { left: 'RateLimit', remaining, wait: 'RateLimit', ms: resetMs(reset, theirs) },
    ...prefixes.map((prefix) => {
      const [left, wait] = [`${prefix}remaining`, `${prefix}reset`];
      // Older drafts put a policy behind the number: `100, 100;w=60`.
      const [most, until] = [left, wait].map((field) => itemsIn(answer, field)[0]?.['']);
      return { left, remaining: most, wait, ms: resetMs(until, theirs) };
    }),
  ].flatMap(({ ms, ...said }) => (ms === undefined ? [] : [{ ...said, ms: Math.min(ms, FOR_EVER_MS) }]));
}

/** What an answer says is left; undefined if it does not say. */
export function advertisedBy(answer: Answer, now: number): Advertised | undefined {
  for (const { left, remaining, ms } of saidBy(answer, now))
    if (left !== undefined && remaining !== undefined)
      return { field: left, remaining, resetAt: now + ms, at: answer.sentAt };
  return undefined;
}

/** What a 429 asks for, at most a year. Retry-After counts first. */
export function requestedWait(answer: Answer, now: number): RequestedWait | undefined {
  const [first] = saidBy(answer, now);
  return first && { field: first.wait, ms: first.ms };
}

const policyFields = [
  'ratelimit-policy',
  'x-ratelimit-policy',
  ...prefixes.map((prefix) => `${prefix}limit`),
];

/** The limits that an answer names: `RateLimit-Policy`, or the policy in `RateLimit-Limit`. */
export const policiesOf = (answer: Answer): readonly Policy[] =>
  (namesLimit(answer) ? policyFields : []).flatMap((field) =>
    itemsIn(answer, field).flatMap((item) => {
      const { q: most = item[''] ?? 0, w: seconds = 0 } = item;
      return most > 0 && seconds > 0 ? [{ field, most, windowMs: seconds * 1000 }] : [];
    }),
  );
