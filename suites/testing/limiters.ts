import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import type { Fixture, FixtureLimits } from '../../schemas/generated/types.ts';

/** Rate limiters as real teams write them. They share nothing with what judges them. */

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

export type MakeCounter = (most: number, windowMs: number) => Counter;

export const fixed =
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

export const slidingLog: MakeCounter = (most, windowMs) => {
  let hits: number[] = [];
  return {
    waitMs: (now) => {
      hits = hits.filter((at) => at > now - windowMs);
      return hits.length >= most ? hits[hits.length - most]! + windowMs - now : 0;
    },
    count: (now) => void hits.push(now),
  };
};

export const weighted: MakeCounter = (most, windowMs) => {
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

export const bucket: MakeCounter = (most, windowMs) => {
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
export const ban =
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
export interface Design {
  readonly counter?: MakeCounter;
  /** Which lookups of users count. On deposit-check, each request with an accepted key does. */
  readonly counts?: (kind: Kind) => boolean;
  readonly account?: (asked: Asked, nth: number) => string;
  readonly refusal?: (endpoint: Endpoint, waitMs: number) => Partial<Refusal>;
  readonly countsRefused?: true;
  /** Which requests are never refused. */
  readonly spares?: (kind: Kind) => boolean;
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

/** Lookups that fail, if they are allowed at all. */
export const failing = (kind: Kind) => kind !== 'member' && kind !== 'bad key';

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
    if (waitMs === 0 || design.spares?.(kind) === true || lets?.(refused++) === true) {
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
