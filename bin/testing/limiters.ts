import assert from 'node:assert/strict';
import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { Fixture, FixtureLimits, RunRecord } from '../../schemas/generated/types.ts';

/**
 * Rate limiters as real teams write them, each with what a run says about it. They were written before the judge and
 * share nothing with it.
 */

/** What a lookup is to a limiter. On deposit-check, `unknown` is any 404. */
export type Kind = 'member' | 'unknown' | 'foreign' | 'malformed' | 'bad key';

export interface Asked {
  readonly endpoint: Endpoint;
  readonly key: string;
  readonly id: string;
  readonly kind: Kind;
}

/** An answer, without its media type, which is JSON. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** One counter: how long a request has to wait (ms), 0 if it may pass. Times are in ms. */
interface Counter {
  readonly waitMs: (now: number) => number;
  readonly count: (now: number) => void;
}

type MakeCounter = (most: number, windowMs: number) => Counter;

const fixed =
  (isAligned: boolean): MakeCounter =>
  (most, windowMs) => {
    let [count, endsAt] = [0, 0];
    return {
      waitMs: (now) => (now < endsAt && count >= most ? endsAt - now : 0),
      count: (now) => {
        if (now >= endsAt)
          [count, endsAt] = [0, isAligned ? (Math.floor(now / windowMs) + 1) * windowMs : now + windowMs];
        count++;
      },
    };
  };

const slidingLog: MakeCounter = (most, windowMs) => {
  let hits: number[] = [];
  return {
    waitMs: (now) => {
      hits = hits.filter((at) => at > now - windowMs);
      return hits.length >= most ? hits[hits.length - most]! + windowMs - now : 0;
    },
    count: (now) => void hits.push(now),
  };
};

const weighted: MakeCounter = (most, windowMs) => {
  const counts = new Map<number, number>();
  const used = (now: number) => {
    const at = Math.floor(now / windowMs);
    return (counts.get(at - 1) ?? 0) * (1 - (now / windowMs - at)) + (counts.get(at) ?? 0);
  };
  return {
    waitMs: (now) => {
      let ms = 0;
      while (used(now + ms) + 1 > most) ms += windowMs / 100;
      return ms;
    },
    count: (now) => {
      const at = Math.floor(now / windowMs);
      counts.set(at, (counts.get(at) ?? 0) + 1);
    },
  };
};

const bucket: MakeCounter = (most, windowMs) => {
  let [level, last] = [most, 0];
  const fill = (now: number) => {
    level = Math.min(most, level + ((now - last) * most) / windowMs);
    last = now;
  };
  return {
    waitMs: (now) => {
      fill(now);
      return level >= 1 ? 0 : ((1 - level) * windowMs) / most;
    },
    count: (now) => {
      fill(now);
      level--;
    },
  };
};

/** Refuses for some windows after each refusal; `grows`: each time twice as long. */
const ban =
  (windows: number, grows: boolean): MakeCounter =>
  (most, windowMs) => {
    const inner = fixed(false)(most, windowMs);
    let [until, times] = [0, 0];
    return {
      waitMs: (now) => {
        if (now < until) return until - now;
        if (inner.waitMs(now) === 0) return 0;
        until = now + windows * windowMs * (grows ? 2 ** times++ : 1);
        return until - now;
      },
      count: inner.count,
    };
  };

/** How a limiter behaves where it differs from a fixed window for each key that counts failed lookups. */
interface Design {
  readonly counter?: MakeCounter;
  /** Which lookups of users count. On deposit-check, each request with an accepted key does. */
  readonly counts?: (kind: Kind) => boolean;
  readonly account?: (asked: Asked, nth: number) => string;
  readonly refusal?: (endpoint: Endpoint, waitMs: number) => Partial<Refusal>;
  readonly countsRefused?: true;
  /** Whether a lookup of a member sets the counter back. */
  readonly resets?: true;
  /** Whether the `nth` request that should be refused passes. */
  readonly lets?: (nth: number) => boolean;
  /** Whether a refusal sets the counter back. */
  readonly forgets?: true;
  /** Whether requests beyond the limit wait, and none is refused. */
  readonly delays?: true;
  /** Whether a request for an id that was counted before does not count. */
  readonly countsDistinct?: true;
  readonly isOff?: true;
}

/** What a run says: its exit code, failed and warned rows, and words of one of them. */
export interface Expected {
  readonly exit: number;
  readonly failed?: readonly string[];
  readonly warned?: readonly string[];
  readonly says?: RegExp;
  /** Set if other rows may fail as well: lookups meet the limiter before the limit is tried. */
  readonly andOthers?: true;
}

export interface LimiterRow extends Design {
  readonly class: 'legal' | 'another reading' | 'wrong';
  readonly stated: Expected;
  readonly unstated: Expected;
  /** Under 20 in 5 minutes, where it differs from `stated` and `unstated`. */
  readonly long?: { readonly stated?: Expected; readonly unstated?: Expected };
}

const fine: Expected = { exit: 0 };
const legal = (design: Design): LimiterRow => ({ ...design, class: 'legal', stated: fine, unstated: fine });
const reading = (row: string, says: RegExp, design: Design): LimiterRow => {
  const expected = { exit: 0, warned: [`rate-limit/user-status/${row}`], says };
  // A second comparison needs a second window.
  return {
    ...design,
    class: 'another reading',
    stated: expected,
    unstated: expected,
    long: { unstated: fine },
  };
};
const limitRows = ['rate-limit/user-status/failed-lookups', 'rate-limit/deposit-check/requests'];
const wrong = (
  stated: Expected,
  unstated: Expected,
  design: Design,
  long?: LimiterRow['long'],
): LimiterRow => ({
  ...design,
  class: 'wrong',
  stated,
  unstated,
  ...(long !== undefined && { long }),
});
const fails = (says: RegExp, failed: readonly string[] = limitRows): Expected => ({ exit: 1, failed, says });

const failing = (kind: Kind) => kind !== 'member' && kind !== 'bad key';

/** Answers nothing that is 429, whoever asks. */
const instead = (status: number): Design => ({
  refusal: () => ({ status, headers: {}, body: '{"error":"Blocked"}' }),
});

export const limiters: Readonly<Record<string, LimiterRow>> = {
  'fixed window': legal({}),
  'window aligned to the clock': legal({ counter: fixed(true) }),
  'sliding log': legal({ counter: slidingLog }),
  'weighted window': legal({ counter: weighted }),
  'bucket that refills within a window': legal({ counter: bucket }),
  'by address': {
    ...legal({ account: ({ endpoint }) => endpoint }),
    // The fixture states the limit of a key. The other keys use it up, too.
    long: { stated: { exit: 3 } },
  },
  'one counter for everything': {
    ...legal({ account: () => '' }),
    // 20 requests are too few to check everything.
    long: { stated: { exit: 3 }, unstated: { exit: 3 } },
  },
  'counts refused requests too': legal({ counter: slidingLog, countsRefused: true }),
  'counts wrong keys too': legal({ counts: (kind) => kind !== 'member' }),
  'counts each id once': legal({ countsDistinct: true }),
  'only lookups of users that are not found': legal({
    counts: (kind) => kind === 'unknown' || kind === 'foreign',
  }),
  'ban of three windows': legal({ counter: ban(3, false) }),
  'ban that doubles': legal({ counter: ban(1, true) }),
  'without Retry-After': legal({ refusal: () => ({ headers: {} }) }),
  'Retry-After in ms': legal({
    refusal: (_, waitMs) => ({ headers: { 'retry-after': `${Math.ceil(waitMs)}` } }),
  }),
  'Retry-After -1': legal({ refusal: () => ({ headers: { 'retry-after': '-1' } }) }),

  'only malformed ids': reading('counts-unknown-users', /unknown users never count: only malformed ids do/, {
    counts: (kind) => kind === 'malformed',
  }),
  'every 4xx': reading('counts-unknown-users', /unknown users never count: only malformed ids do/, {
    counts: (kind) => kind === 'malformed' || kind === 'bad key',
  }),
  'a success resets': reading('not-reset', /a successful lookup resets the count/, { resets: true }),
  'users of other IBs do not count': {
    ...reading('counts-foreign-users', /users of other IBs do not count: this tells them from unknown ones/, {
      counts: (kind) => kind === 'unknown' || kind === 'malformed',
    }),
    long: { stated: fine, unstated: fine },
  },

  'counts successes': wrong(
    fails(/429 after \d+ lookups of members/, ['rate-limit/user-status/spares-successes']),
    fails(/429 after \d+ lookups of members/, ['rate-limit/user-status/spares-successes']),
    { counts: (kind) => kind !== 'bad key' },
    { stated: { exit: 3, says: /or lookups of members count/ }, unstated: fine },
  ),
  'one of four passes': wrong(fails(/lets .* through|passed/), fine, { lets: (nth) => nth % 4 === 3 }),
  '503 instead': wrong(
    { ...fails(/503 instead of 429/), andOthers: true },
    { ...fails(/503 instead of 429/), andOthers: true },
    instead(503),
    { unstated: { exit: 1, andOthers: true, says: /503 instead of 429/ } },
  ),
  '403 instead': wrong(
    { ...fails(/403 instead of 429/), andOthers: true },
    { ...fails(/403 instead of 429/), andOthers: true },
    instead(403),
    { unstated: { exit: 1, andOthers: true, says: /403 instead of 429/ } },
  ),
  'wrong text': wrong(
    fails(/Slow down/, ['rate-limit/user-status/message', 'rate-limit/deposit-check/message']),
    fails(/Slow down/, ['rate-limit/user-status/message', 'rate-limit/deposit-check/message']),
    { refusal: () => ({ body: '{"error":"Slow down"}' }) },
  ),
  'none at all': wrong(fails(/no 429/), { exit: 3, says: /no 429/ }, { isOff: true }),
  '429 once, then passes': wrong(fails(/429 did not last/), fails(/429 did not last/), { forgets: true }),
  'three instances that each count alone': wrong(
    fails(/several instances/),
    fine,
    { account: ({ endpoint, key }, nth) => `${endpoint} ${key} ${nth % 3}` },
    { stated: { exit: 0, says: /several instances/ } },
  ),
  'delays requests': wrong(
    { exit: 3, says: /does the limiter delay/ },
    { exit: 3, says: /no 429/ },
    { counter: bucket, delays: true },
    { stated: { exit: 3 }, unstated: { exit: 3 } },
  ),
};

const uuid4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;
const anyUuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Reads a request as a limiter does; undefined if it is not about limits. */
export function askedBy(
  fixture: Fixture,
  {
    method,
    url,
    authorization = '',
  }: { readonly method: string; readonly url: string; readonly authorization?: string },
): Asked | undefined {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const endpoint = (['user-status', 'deposit-check'] as const).find(
    (one) => endpoints[one].path === pathname,
  );
  if (endpoint === undefined || method !== 'GET') return undefined;
  const key = /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
  const id = (searchParams.get(endpoint === 'user-status' ? 'user_id' : 'reference_id') ?? '').toLowerCase();
  const caller = fixture.apiKeys?.find((one) => one.key === key && one.state === 'active');
  const kind = (): Kind => {
    if (caller === undefined || caller.partner === null) return 'bad key';
    if (!(endpoint === 'user-status' ? uuid4 : anyUuid).test(id)) return 'malformed';
    if (endpoint === 'deposit-check') return 'unknown';
    const user = fixture.users?.find((one) => one.user_id.toLowerCase() === id);
    return user === undefined ? 'unknown' : user.partner === caller.partner ? 'member' : 'foreign';
  };
  return { endpoint, key, id, kind: kind() };
}

/** What a limiter does with a request: it passes after some ms, or is refused. */
export type Decision = { readonly delayMs: number } | Refusal;

/** A limiter with these limits. A counter that both endpoints share has the limit of the first. */
export function limiterOf(design: Design, limits: FixtureLimits): (asked: Asked, now: number) => Decision {
  const { counter = fixed(false), counts = failing, account, refusal, lets } = design;
  const counters = new Map<string, Counter>();
  const seen = new Set<string>();
  let [asked, refused] = [0, 0];
  const newCounter = (endpoint: Endpoint) => {
    const { failedLookups, requests, windowSeconds } = {
      failedLookups: 0,
      requests: 0,
      ...limits[endpoint]!,
    };
    return counter(failedLookups + requests, windowSeconds * 1000);
  };
  return (one, now) => {
    const { endpoint, key, kind, id } = one;
    const passes = { delayMs: 0 };
    if (design.isOff === true || (key === '' && account === undefined)) return passes;
    const isCounting = endpoint === 'user-status' ? counts(kind) : kind !== 'bad key' || counts(kind);
    const name = account?.(one, asked++) ?? `${endpoint} ${key}`;
    const own = counters.get(name) ?? newCounter(endpoint);
    counters.set(name, own);
    const waitMs = own.waitMs(now);
    const isDouble = design.countsDistinct === true && seen.has(`${name} ${id}`);
    seen.add(`${name} ${id}`);
    if (waitMs > 0 && design.delays === true) {
      if (isCounting) own.count(now);
      return { delayMs: isCounting ? waitMs : 0 };
    }
    if (waitMs === 0 || lets?.(refused++) === true) {
      if (design.resets === true && kind === 'member') counters.set(name, newCounter(endpoint));
      else if (isCounting && !isDouble) own.count(now);
      return passes;
    }
    if (design.countsRefused === true) own.count(now);
    if (design.forgets === true) counters.set(name, newCounter(endpoint));
    return {
      status: 429,
      body: JSON.stringify({ error: endpoints[endpoint].messages[429] }),
      headers: { 'retry-after': `${Math.ceil(waitMs / 1000)}` },
      ...refusal?.(endpoint, waitMs),
    };
  };
}

/** Checks what a run said about a limiter. */
export function assertExpected(
  record: RunRecord,
  exit: number,
  { exit: code, failed = [], warned = [], says, andOthers }: Expected,
  remarks: readonly string[],
): void {
  const ids = (level: string) =>
    record.requirements.flatMap((row) => (row.outcome === 'failed' && row.level === level ? [row.id] : []));
  const [isFailed, isWarned] = [ids('required'), ids('recommended')];
  const words = record.requirements.map((row) =>
    'actual' in row ? row.actual : 'words' in row ? row.words : '',
  );
  if (andOthers === true) {
    assert.equal(exit, code);
    for (const id of failed) assert.ok(isFailed.includes(id), id);
  } else
    assert.deepEqual(
      { exit, failed: isFailed.toSorted(), warned: isWarned.toSorted() },
      { exit: code, failed: failed.toSorted(), warned: warned.toSorted() },
    );
  if (says !== undefined) assert.match([...words, ...remarks].join('\n'), says);
}
