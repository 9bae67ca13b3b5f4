import { endpointNames, countsFailures, type Endpoint } from '../../schemas/endpoints.ts';
import type { FixtureLimits, WaitReason } from '../../schemas/generated/types.ts';
import type { Known } from '../known.ts';
import { oncePer } from '../../schemas/values.ts';
import { header, type Answer } from '../answer.ts';
import { isMember } from '../rules/expectations.ts';
import type { Facts } from '../rules/facts.ts';
import { factsOf, presentedKey } from '../rules/facts-of-request.ts';
import type { Request } from '../request.ts';

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
    endpointNames.flatMap((endpoint) => {
      const limit = limits[endpoint];
      if (limit === undefined) return [];
      const most = 'failedLookups' in limit ? limit.failedLookups : limit.requests;
      return [[endpoint, { most, windowMs: limit.windowSeconds * 1000 }]];
    }),
  );

/** `5 min`, `297 s`, `1.5 s` */
export const describeMs = (ms: number): string =>
  ms > 0 && ms % 60_000 === 0
    ? `${ms / 60_000} min`
    : `${ms < 10_000 ? Number((ms / 1000).toPrecision(2)) : Math.round(ms / 1000)} s`;

/** `20 in 5 min`, `250 in 3 s` */
export const describeLimit = ({ most, windowMs }: RateLimit): string => `${most} in ${describeMs(windowMs)}`;

/** Whose requests a limiter counts together. */
export type Scope = NonNullable<FixtureLimits['scope']>;

/** Who asks: an endpoint, an accepted key or the empty one, its partner, and whether the request may count. */
export interface Asked {
  readonly endpoint: Endpoint;
  readonly key: string;
  readonly partner?: string | undefined;
  readonly cost: 0 | 1;
  /** Set if the fixture leaves open whether it is read as the lookup of a member. */
  readonly mayBeMember?: boolean;
}

/** Whether a lookup may count at the limiter: one of a member does not fail, and one without an accepted key is free. */
export function costOf({ endpoint, key, parameter, entity, isOpen }: Facts): 0 | 1 {
  if (key !== 'accepted' && key !== 'open') return 0;
  const isMembers = entity === 'own user' && parameter === 'plain' && !isOpen;
  return countsFailures(endpoint) && isMembers ? 0 : 1;
}

const askedFor = oncePer((known: Known) =>
  oncePer((request: Request): Asked => {
    const { endpoint } = request;
    const { key, found } = presentedKey(known, request);
    const facts = factsOf(known, request);
    const isAccepted = key === 'accepted' || key === 'open';
    return {
      endpoint,
      key: found?.key ?? '',
      partner: found?.partner ?? undefined,
      cost: facts === undefined ? (isAccepted ? 1 : 0) : costOf(facts),
      mayBeMember: facts === undefined || facts.entity === 'own user',
    };
  }),
);

/** Whose limit a request uses, and whether it may count. */
export const askedBy = (known: Known, request: Request): Asked => askedFor(known)(request);

/**
 * Whether a request counted (Limits), by the fixture or by its answer: the limiter may have read it either way. An answer
 * shows that it did on deposit-check, and on user-status unless it is about a member. A refused key and a 429 cost
 * nothing.
 */
export const isCounted = ({ endpoint, cost, mayBeMember }: Asked, answer: Answer): boolean =>
  answer.status !== 401 &&
  answer.status !== 429 &&
  (!countsFailures(endpoint) || !isMember(answer) || (cost > 0 && mayBeMember !== true));

/** Date formats of HTTP: IMF-fixdate, RFC 850 and asctime (RFC 9110 5.6.7). All are UTC. */
const httpDate = /^[A-Za-z]{3,9},? [-\w ]+ \d\d:\d\d:\d\d( GMT| \d{4})$/;

/** How long a 429 asks to wait (RFC 9110 10.2.3), in ms; undefined if it says nothing that can be read. */
export function retryAfterMs(answer: Answer): number | undefined {
  const text = header(answer, 'retry-after')?.trim() ?? '';
  if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text) * 1000;
  const date = httpDate.test(text) ? Date.parse(text.replace(/( GMT)?$/, ' GMT')) : Number.NaN;
  if (Number.isNaN(date)) return undefined;
  // A date refers to the target's clock.
  const theirs = Date.parse(header(answer, 'date') ?? '');
  return Math.max(0, date - (Number.isNaN(theirs) ? answer.receivedAt : theirs));
}

/** ` (Retry-After 297 s)` */
const describeRetry = (askedMs: number | undefined): string =>
  askedMs === undefined ? '' : ` (Retry-After ${describeMs(askedMs)})`;

/** A key got 429, and no request that counts has passed since. Times are in ms of the clock. */
export interface Pause {
  readonly since: number;
  readonly ms: number;
  /** When it was prolonged last, and its end. */
  readonly from: number;
  readonly until: number;
  readonly tries: number;
  /** How many obeyed pauses were in vain although nothing else passed with the key. */
  readonly inVain: number;
  readonly reason: WaitReason;
  readonly why: string;
  /** Whether anything passed with the key since `from`. */
  isDisturbed: boolean;
  /** Whether requests that do not count wait, too. */
  blocksAll: boolean;
  readonly gaveUp?: string | undefined;
}

export const LIMITED_UNTIL_END = 'the key is rate-limited until after the end of --max-duration';

/** First back-off, and the one after which a wait that would outlast the run is given up, in ms. */
const [BACK_OFF_MS, MAX_BACK_OFF_MS] = [500, 8000];

/** A key that gets 429 after so many ms in which nothing was sent with it does not recover. */
export const decidingMs = (stated?: RateLimit, askedMs = 0): number =>
  Math.max(15 * 60_000, 2 * askedMs, 4 * (stated?.windowMs ?? 0));

/** One key on one endpoint. */
export interface Account {
  /** Requests in flight that may count, and others. */
  readonly inFlight: [free: number, counted: number];
  /** When requests counted, and when others passed, while a limit is stated. */
  counted: number[];
  free: number[];
  /** Whether any request got another answer than 429, and how many that counted. */
  hasPassed: boolean;
  passed: number;
  pause: Pause | undefined;
  /** The last pause that was long enough, in ms. */
  enoughMs: number | undefined;
}

/** After so many pauses in vain, Retry-After is not true: pauses double. */
const MAX_IN_VAIN = 2;

/**
 * How long a key pauses, and why: as Retry-After says, until it was in vain twice. Without it, as long as was enough
 * before, then twice as long each time.
 */
export function nextPause(
  { pause, enoughMs, hasPassed }: Account,
  {
    askedMs,
    leftMs,
    stated,
  }: {
    readonly askedMs: number | undefined;
    readonly leftMs: number;
    readonly stated: RateLimit | undefined;
  },
): Pick<Pause, 'ms' | 'inVain' | 'reason' | 'why' | 'gaveUp'> {
  const inVain = pause === undefined ? 0 : pause.inVain + (pause.isDisturbed ? 0 : 1);
  const firstMs = pause === undefined ? (enoughMs ?? stated?.windowMs) : undefined;
  const doubles = pause !== undefined && (askedMs === undefined || inVain >= MAX_IN_VAIN);
  const doubledMs = doubles ? 2 * pause.ms : 0;
  // A field alone never stops a run: shorter waits test it.
  const isTooLong = askedMs !== undefined && askedMs > leftMs;
  const ms = isTooLong
    ? BACK_OFF_MS * 2 ** (pause?.tries ?? 0)
    : Math.max(askedMs ?? firstMs ?? 0, doubledMs, BACK_OFF_MS);
  const named = askedMs === undefined ? '429 without Retry-After' : `429, Retry-After ${describeMs(askedMs)}`;
  const isKnown = askedMs === undefined && firstMs !== undefined;
  const times = askedMs === undefined ? (pause?.tries ?? 0) : inVain;
  const [reason, more]: [WaitReason, string] = isTooLong
    ? ['back-off', ', after the end of the run: short waits test it']
    : doubledMs > (askedMs ?? 0)
      ? ['doubled', `, ${['', 'once', 'twice'][times] ?? `${times} times`} in vain: pauses double`]
      : [askedMs === undefined ? 'back-off' : 'retry-after', isKnown ? ', for a known window' : ''];
  const told = { ms, inVain, reason, why: `${named}${more}` };
  if (pause !== undefined && pause.ms >= decidingMs(stated, isTooLong ? 0 : askedMs))
    return { ...told, gaveUp: `still 429 after ${describeMs(pause.ms)} in which nothing was sent` };
  if (ms <= leftMs && !(isTooLong && ms > MAX_BACK_OFF_MS)) return told;
  const usedUp = `the limit was already used up when this run began${describeRetry(askedMs)}`;
  return { ...told, gaveUp: hasPassed ? LIMITED_UNTIL_END : usedUp };
}

/** What is contradictory in a 429 before the stated limit, in words. Times are in ms of the clock. */
export function contradictionOf(
  limit: RateLimit,
  { counted, free, inFlight }: Account,
  now: number,
  askedMs: number | undefined,
): string | undefined {
  const recent = (times: readonly number[]) => times.filter((at) => at > now - limit.windowMs).length;
  const [used, others] = [recent(counted), recent(free)];
  if (used >= limit.most - 1) return undefined;
  const count = others > 0 ? `${used} counted requests and ${others} others` : `${used} counted requests`;
  const sent = used + others + inFlight[0] + inFlight[1];
  const members = sent >= limit.most ? ', or lookups of members count' : '';
  return `429 after ${count}${describeRetry(askedMs)}, but the fixture states ${describeLimit(limit)}: its number or its scope is wrong, or others use this limit${members}`;
}
