import { endpointNames, type Endpoint } from '../../schemas/endpoints.ts';
import type { Advertised, Policy, RequestedWait } from './advertised.ts';
import { bestScope, type EndedRefusal } from './learn.ts';
import {
  burstSize,
  decidingMs,
  describeLimit,
  describeMs,
  scopes,
  type LimitSource,
  type RateLimit,
  type Scope,
} from './limit.ts';

/** What a run knows about the limiters of the target. Plain data: `reduce` returns the next state. */
export interface Limits {
  readonly endpoints: Readonly<Record<Endpoint, EndpointLimits>>;
  /** Fields of answers that promised a limit which did not come. */
  readonly ignored: readonly string[];
  /** What a person should know, each kind once per endpoint. */
  readonly remarks: readonly Remark[];
}

/**
 * - `contradiction`: the target does not have the stated limit.
 * - `early`: a 429 came before the stated limit was reached.
 * - `used-up`: the first counted request got 429.
 */
export interface Remark {
  readonly endpoint: Endpoint;
  readonly kind: 'contradiction' | 'early' | 'used-up';
  readonly words: string;
}

/** A limit that a run keeps to, and where it comes from. */
export type SourcedLimit = RateLimit & {
  readonly source: LimitSource;
  /** The field that named it, if it is advertised. */
  readonly field?: string;
};

/** The limiter of an endpoint. */
export interface EndpointLimits {
  /** Missing if none was stated, or if the target contradicted it. */
  readonly stated: SourcedLimit | undefined;
  /** The limit that explains the refusals so far, or that an answer names. */
  readonly learned: SourcedLimit | undefined;
  /** The latest refusals that ended. */
  readonly refusals: readonly EndedRefusal[];
  /** Refusals that the learned limit does not explain: other requests count too, or other clients use the key. */
  readonly unexplained: number;
  /** By key; the empty key stands for all requests without an accepted one. */
  readonly accounts: ReadonlyMap<string, Account>;
}

/** When a server may have counted a request, in ms of the engine's clock. */
interface Span {
  readonly sentAt: number;
  readonly at: number;
}

/** One key on one endpoint. Times are in ms of the engine's clock. */
interface Account {
  /** Requests without an answer yet that may count, and all of them. */
  readonly inFlight: number;
  readonly flying: number;
  /** The latest requests that counted, in the order of their answers. */
  readonly counted: readonly Span[];
  readonly refusal: Refusal | undefined;
  /** What the latest answer says is left. */
  readonly advertised: Advertised | undefined;
}

/** A key gets 429, until a request that counts gets another answer. */
interface Refusal {
  /** When the first request of it was sent, and the last one. */
  readonly since: number;
  readonly lastAt: number;
  /** Number of 429s that were waited for. */
  readonly count: number;
  /** When the next request may be sent: one that counts, and any. */
  readonly until: number;
  readonly closedUntil: number;
  /** Why, such as `Retry-After 297 s`. */
  readonly why: string;
  /** Whether it came before the stated limit was reached. */
  readonly isEarly: boolean;
  /** Whether a request is in flight that shows if it has ended. */
  readonly isProbing: boolean;
  /** The field that asks for a wait, and when that wait ends. */
  readonly wanted?: { readonly field: string; readonly until: number };
  /** Why waiting was given up. */
  readonly gaveUp: string | undefined;
}

const newAccount: Account = {
  inFlight: 0,
  flying: 0,
  counted: [],
  refusal: undefined,
  advertised: undefined,
};

export const newLimits = (stated: Readonly<Partial<Record<Endpoint, RateLimit>>>): Limits => {
  const of = (endpoint: Endpoint): EndpointLimits => ({
    stated: stated[endpoint] && { ...stated[endpoint], source: 'stated' },
    learned: undefined,
    refusals: [],
    unexplained: 0,
    accounts: new Map(),
  });
  return {
    endpoints: { 'user-status': of('user-status'), 'deposit-check': of('deposit-check') },
    ignored: [],
    remarks: [],
  };
};

/** Who asks: an endpoint, an accepted key or the empty one, and whether the request may count. */
export interface Asked {
  readonly endpoint: Endpoint;
  readonly key: string;
  readonly cost: 0 | 1;
}

/** A request is over. Times are in ms. */
interface Ended extends Asked {
  readonly at: number;
  readonly sentAt: number;
  /** Limits that the answer names. */
  readonly policies: readonly Policy[];
}

/** It got an answer other than 429, or none. */
interface Passed extends Ended {
  readonly kind: 'answered' | 'lost';
  /** Whether it waited for its turn. */
  readonly isAdmitted: boolean;
  /** Whether it counted, judged by its answer. A lost one may have. */
  readonly counted: boolean;
  readonly advertised?: Advertised | undefined;
}

/** It waited for its turn, and got 429. */
interface Refused extends Ended {
  readonly kind: 'refused';
  readonly wanted: RequestedWait | undefined;
  /** When the run ends, and how long it may take. */
  readonly deadline: number;
  readonly runMs: number;
}

export type LimitEvent =
  | (Asked & { readonly kind: 'sent' })
  | Passed
  | Refused
  /** Another try for a key that was given up. */
  | (Asked & { readonly kind: 'retry' });

/** When a request may be sent. `reply`: that depends on a reply. */
export type Turn =
  | { readonly kind: 'now' }
  | { readonly kind: 'at'; readonly at: number; readonly why: string }
  | { readonly kind: 'reply' }
  | { readonly kind: 'never'; readonly why: string };

/** Added to the end of a window, in ms, because clocks round. */
export const MARGIN_MS = 20;

/** Precision of header fields in ms: they round up to seconds. */
const PRECISION_MS = 1000;

export const LIMITED_UNTIL_END = 'the key is rate-limited until after the end of --max-duration';

/** First back-off, in ms. It doubles each time, up to this or a quarter of the time waited. */
const [MIN_BACK_OFF_MS, MAX_BACK_OFF_MS] = [500, 10_000];

/** After so many 429s although the known limit has ended, the next wait decides whether the key recovers. */
const TRIES = 2;

const MAX_COUNTED = 4000;

/** After so many unexplained refusals, requests are no longer counted: only a 429 makes them wait. */
const MAX_UNEXPLAINED = 5;

export const accountOf = ({ accounts }: EndpointLimits, key: string): Account =>
  accounts.get(key) ?? newAccount;

/** The limit that a run keeps to. */
export const limitOf = ({ stated, learned }: EndpointLimits): SourcedLimit | undefined => stated ?? learned;

/** The limit after an event: a known one, or else the one that the Retry-After of a 429 suggests. */
export function limitShownBy(limits: Limits, event: LimitEvent): RateLimit | undefined {
  const of = limits.endpoints[event.endpoint];
  const limit = limitOf(of);
  // A limit that was given up stays as it was last known.
  if (limit !== undefined) return Number.isFinite(limit.most) ? limit : undefined;
  const { counted } = accountOf(of, event.key);
  if (event.kind !== 'refused' || event.wanted === undefined || counted.length === 0) return undefined;
  return { most: counted.length, windowMs: event.at - counted[0]!.at + event.wanted.ms };
}

/** When a request may be sent. */
export function nextTurn(limits: Limits, asked: Asked, now: number): Turn {
  const { endpoint, key, cost } = asked;
  const { refusal, advertised, flying } = accountOf(limits.endpoints[endpoint], key);
  if (refusal !== undefined) {
    const { gaveUp, why, isProbing } = refusal;
    if (gaveUp !== undefined) return { kind: 'never', why: gaveUp };
    const at = nextTryAt(refusal, cost);
    if (now < at) return { kind: 'at', at, why };
    if (isProbing && isTest(refusal, cost)) return { kind: 'reply' };
  }
  const full = fullTurn(limits, asked, now);
  const isOnlySaid = limitOf(limits.endpoints[endpoint])?.source === 'advertised';
  if (full !== undefined && !isOnlySaid) return full;
  // A field that says that nothing is left slows sending. One request tests it before anything waits.
  const isOut =
    advertised !== undefined &&
    now < advertised.resetAt &&
    !limits.ignored.includes(advertised.field) &&
    advertised.remaining - flying <= cost;
  return (isOut || full !== undefined) && flying > 0 ? { kind: 'reply' } : { kind: 'now' };
}

/** When the next request may be sent, although the last ones got 429. */
const nextTryAt = ({ until, closedUntil }: Refusal, cost: 0 | 1) =>
  cost === 0 ? closedUntil : Math.max(until, closedUntil);

/** Whether a request shows if a refusal has ended: one that counts, or any, if all were refused. */
const isTest = ({ closedUntil }: Refusal, cost: 0 | 1) => cost > 0 || closedUntil > 0;

/**
 * The turn of a request if the window of a stated or learned limit is full; undefined if it is not. The limit is kept
 * to but for one request: at the threshold, a limiter refuses free requests too.
 */
function fullTurn(limits: Limits, { endpoint, key, cost }: Asked, now: number): Turn | undefined {
  const limit = limitOf(limits.endpoints[endpoint]);
  if (limit === undefined || key === '') return undefined;
  // Requests with a revoked key are free, although its limit may be that of all keys.
  if (cost === 0 && accountOf(limits.endpoints[endpoint], key).counted.length === 0) return undefined;
  const { most, windowMs } = limit;
  const { spent, firstAt } = usedIn(limits, { endpoint, key }, windowMs, now);
  if (spent < (cost === 0 ? most : Math.max(1, most - 1))) return undefined;
  return Number.isFinite(firstAt)
    ? { kind: 'at', at: firstAt + windowMs + MARGIN_MS, why: sourceOf(limit) }
    : { kind: 'reply' };
}

const sourceOf = (limit: SourcedLimit) => `${limit.source} limit, ${describeLimit(limit)}`;

/** How many requests of a window may have counted, and when the first of them was answered (ms). */
function usedIn(
  limits: Limits,
  { endpoint, key }: Pick<Asked, 'endpoint' | 'key'>,
  windowMs: number,
  now: number,
  scope?: Scope,
) {
  let [spent, firstAt] = [0, Number.POSITIVE_INFINITY];
  for (const { inFlight, counted } of accountsIn(limits, endpoint, key, scope)) {
    const first = counted.findLastIndex(({ at }) => at <= now - windowMs - MARGIN_MS) + 1;
    spent += inFlight + counted.length - first;
    firstAt = Math.min(firstAt, counted[first]?.at ?? Infinity);
  }
  return { spent, firstAt };
}

/** The accounts that a limiter counts together. */
function accountsIn(
  limits: Limits,
  endpoint: Endpoint,
  key: string,
  scope = limitOf(limits.endpoints[endpoint])?.scope ?? 'key',
): readonly Account[] {
  const names = scope === 'key' || scope === 'endpoint' ? [endpoint] : endpointNames;
  const isOfKey = scope === 'key' || scope === 'key on both endpoints';
  return names.flatMap((name) =>
    [...limits.endpoints[name].accounts].flatMap(([owner, one]) =>
      (isOfKey ? owner === key : owner !== '') ? [one] : [],
    ),
  );
}

/** The key whose request may be sent first. */
export function firstKey(
  limits: Limits,
  asked: Omit<Asked, 'key'>,
  keys: readonly string[],
  now: number,
): string {
  const rank = (key: string) => {
    const turn = nextTurn(limits, { ...asked, key }, now);
    if (turn.kind === 'at') return turn.at;
    return turn.kind === 'now' ? 0 : turn.kind === 'reply' ? now + 1 : Infinity;
  };
  return keys.reduce((best, key) => (rank(key) < rank(best) ? key : best));
}

/** The state after an event. */
export function reduce(limits: Limits, event: LimitEvent): Limits {
  const account = accountOf(limits.endpoints[event.endpoint], event.key);
  const { inFlight, flying, refusal } = account;
  switch (event.kind) {
    case 'sent':
      return withAccount(limits, event, {
        inFlight: inFlight + event.cost,
        flying: flying + 1,
        refusal: refusal && { ...refusal, isProbing: refusal.isProbing || isTest(refusal, event.cost) },
      });
    case 'retry':
      return withAccount(limits, event, {
        refusal: refusal && { ...refusal, gaveUp: undefined, count: Math.min(refusal.count, TRIES) },
      });
    case 'refused':
      return refused(withPolicies(landed(limits, event), event), event);
    case 'answered':
    case 'lost':
      return passed(withPolicies(event.isAdmitted ? landed(limits, event) : limits, event), event);
  }
}

const withEndpoint = (limits: Limits, endpoint: Endpoint, change: Partial<EndpointLimits>): Limits => ({
  ...limits,
  endpoints: { ...limits.endpoints, [endpoint]: { ...limits.endpoints[endpoint], ...change } },
});

function withAccount(limits: Limits, { endpoint, key }: Asked, change: Partial<Account>): Limits {
  const of = limits.endpoints[endpoint];
  const accounts = new Map(of.accounts).set(key, { ...accountOf(of, key), ...change });
  return withEndpoint(limits, endpoint, { accounts });
}

const withRemark = (limits: Limits, endpoint: Endpoint, kind: Remark['kind'], what: string): Limits =>
  limits.remarks.some((one) => one.endpoint === endpoint && one.kind === kind)
    ? limits
    : { ...limits, remarks: [...limits.remarks, { endpoint, kind, words: `${endpoint}: ${what}` }] };

/** A request is no longer in flight. */
function landed(limits: Limits, event: Ended): Limits {
  const { inFlight, flying, refusal } = accountOf(limits.endpoints[event.endpoint], event.key);
  // A request that was sent before the end of a refusal does not show that it ended.
  const isProbe = (one: Refusal) => isTest(one, event.cost) && event.sentAt >= nextTryAt(one, event.cost);
  return withAccount(limits, event, {
    inFlight: inFlight - event.cost,
    flying: flying - 1,
    // Whoever waits for a reply waits for ever if none is due.
    refusal: refusal && {
      ...refusal,
      isProbing: refusal.isProbing && !isProbe(refusal) && flying > 1,
    },
  });
}

/**
 * Compares the limits that an answer names with the stated one. Without a stated one, the shortest window that explains
 * a 429 is the limit.
 */
function withPolicies(limits: Limits, event: Passed | Refused): Limits {
  const { endpoint, key, at } = event;
  const policies = event.policies.filter(({ field }) => !limits.ignored.includes(field));
  if (policies.length === 0 || key === '') return limits;
  const { stated, learned } = limits.endpoints[endpoint];
  const use = (policy: Policy, from: Limits) =>
    withEndpoint(from, endpoint, { learned: { ...policy, source: 'advertised' } });
  if (stated !== undefined) {
    const isSame = policies.some((one) => one.most === stated.most && one.windowMs === stated.windowMs);
    const stricter = policies.find((one) => one.most <= stated.most && one.windowMs > stated.windowMs);
    if (isSame || stricter === undefined) return limits;
    return use(stricter, contradicted(limits, endpoint, `${stricter.field} says ${describeLimit(stricter)}`));
  }
  if (event.kind !== 'refused' || learned?.source === 'advertised') return limits;
  const [shortest] = policies
    .filter(({ most, windowMs }) => usedIn(limits, event, windowMs, at).spent >= most)
    .toSorted((a, b) => a.windowMs - b.windowMs);
  return shortest === undefined ? limits : use(shortest, limits);
}

/** A request passed, or was lost: the server may have counted it. */
function passed(limits: Limits, event: Passed): Limits {
  const { endpoint, key, at, sentAt, kind, advertised, cost, isAdmitted } = event;
  let next = limits;
  const before = accountOf(next.endpoints[endpoint], key);
  if (kind === 'answered' && isAdmitted && before.refusal !== undefined) {
    const { refusal } = before;
    if (cost > 0 && sentAt >= refusal.until) next = unblocked(next, event, refusal);
    // A request that does not count passed: such requests may go on.
    else if (cost === 0 && sentAt >= refusal.closedUntil)
      next = withAccount(next, event, { refusal: { ...refusal, closedUntil: 0 } });
  }
  const last = before.advertised;
  const isWrong =
    event.counted &&
    kind === 'answered' &&
    last !== undefined &&
    last.remaining <= 0 &&
    sentAt > last.at &&
    sentAt < last.resetAt - PRECISION_MS;
  if (isWrong) next = withoutField(next, last.field);
  if (advertised !== undefined && advertised.at >= (last?.at ?? 0))
    next = withAccount(next, event, { advertised });
  if (!event.counted || key === '') return next;
  const { stated } = next.endpoints[endpoint];
  const kept = stated === undefined ? MAX_COUNTED : 2 * burstSize(stated);
  const counted = [...before.counted, { sentAt, at }].slice(-kept);
  return withoutPolicy(withAccount(next, event, { counted }), event);
}

/** Without an advertised limit if more passed within its window than two windows allow: then it is none. */
function withoutPolicy(limits: Limits, { endpoint, key, at }: Passed): Limits {
  const { learned } = limits.endpoints[endpoint];
  if (learned?.field === undefined) return limits;
  const { most, windowMs, field } = learned;
  const passes = accountsIn(limits, endpoint, key).flatMap(({ counted }) =>
    counted.filter(({ sentAt }) => sentAt > at - windowMs),
  );
  return passes.length > 2 * most
    ? withEndpoint(withoutField(limits, field), endpoint, { learned: undefined })
    : limits;
}

/** A field was wrong: it is ignored from now on. */
const withoutField = (limits: Limits, field: string): Limits =>
  limits.ignored.includes(field) ? limits : { ...limits, ignored: [...limits.ignored, field] };

/** The refusal of a key ended. Its length gives the window, the requests counted before it give the threshold. */
function unblocked(limits: Limits, event: Passed, refusal: Refusal): Limits {
  const { endpoint, key, sentAt } = event;
  const { since, lastAt, count, until, isEarly, wanted } = refusal;
  let next = withAccount(limits, event, { refusal: undefined });
  if (wanted !== undefined && sentAt < wanted.until - PRECISION_MS) next = withoutField(next, wanted.field);
  // Retry-After is rounded up to whole seconds.
  const least = Math.max(lastAt, count > 1 ? 0 : until - MARGIN_MS - PRECISION_MS);
  const found = learn(next, endpoint, { key, least, most: sentAt });
  const { stated } = limits.endpoints[endpoint];
  if (stated === undefined || !isEarly || least - since <= stated.windowMs + PRECISION_MS) return found;
  const what = `a 429 came before the stated limit was reached and lasted ${describeMs(least - since)}`;
  return contradicted(found, endpoint, what);
}

/** From now on the run goes by what it saw. */
function contradicted(limits: Limits, endpoint: Endpoint, what: string): Limits {
  const { stated } = limits.endpoints[endpoint];
  if (stated === undefined) return limits;
  const next = withEndpoint(limits, endpoint, { stated: undefined });
  return withRemark(next, endpoint, 'contradiction', `${what}, but ${describeLimit(stated)} is stated`);
}

function learn(limits: Limits, endpoint: Endpoint, refusal: EndedRefusal): Limits {
  const of = limits.endpoints[endpoint];
  if (of.learned?.source === 'advertised') return limits;
  if (!accountOf(of, refusal.key).counted.some(({ at }) => at < refusal.most)) return limits;
  const refusals = [...of.refusals, refusal].slice(-8);
  // Refusals that come one after another, as with a bucket, would make the window longer and longer.
  if (of.learned !== undefined && of.unexplained >= MAX_UNEXPLAINED)
    return withEndpoint(limits, endpoint, { refusals, learned: { ...of.learned, most: Infinity } });
  const found = bestScope(refusals, (key, scope) =>
    accountsIn(limits, endpoint, key, scope).flatMap(({ counted }) => counted.map(({ sentAt }) => sentAt)),
  );
  if (found === undefined) return withEndpoint(limits, endpoint, { refusals });
  const { scope, windowMs, most } = found;
  return withEndpoint(limits, endpoint, { refusals, learned: { scope, windowMs, most, source: 'learned' } });
}

/** A 429: nothing that counts is sent with the key until it may have ended. */
function refused(limits: Limits, event: Refused): Limits {
  const { endpoint, key, at: now, sentAt, cost, wanted } = event;
  const { refusal } = accountOf(limits.endpoints[endpoint], key);
  // Requests in flight at the first 429 show nothing new, except that those that do not count are refused too.
  if (refusal !== undefined && sentAt < refusal.until)
    return cost === 0
      ? withAccount(limits, event, { refusal: { ...refusal, closedUntil: refusal.until } })
      : limits;
  const next = refusal === undefined && key !== '' ? compared(limits, event) : limits;
  const wait = waitAfter(next, event);
  const changed = withAccount(next, event, {
    refusal: {
      since: sentAt,
      closedUntil: 0,
      isEarly: key !== '' && isBelowStated(next, event),
      ...refusal,
      ...wait,
      lastAt: sentAt,
      count: (refusal?.count ?? 0) + 1,
      ...(cost === 0 && { closedUntil: wait.until }),
      isProbing: false,
      ...(wanted !== undefined && { wanted: { field: wanted.field, until: now + wanted.ms } }),
    },
  });
  if (wait.gaveUp !== LIMITED_UNTIL_END || wanted === undefined) return changed;
  const end = now + wanted.ms;
  return learn(changed, endpoint, { key, least: end - PRECISION_MS, most: end });
}

/** Until when to wait after a 429 (ms), and why. */
function waitAfter(limits: Limits, event: Refused): Pick<Refusal, 'until' | 'why' | 'gaveUp'> {
  const { endpoint, key, at: now, sentAt, wanted, deadline, runMs } = event;
  const of = limits.endpoints[endpoint];
  const { refusal } = accountOf(of, key);
  const { count, since } = refusal ?? { count: 0, since: sentAt };
  const backOff = Math.min(MIN_BACK_OFF_MS * 2 ** count, Math.max(MAX_BACK_OFF_MS, (now - since) / 4));
  // Without a limit, assumes that of the other endpoint.
  const limit = key === '' ? undefined : [of, ...Object.values(limits.endpoints)].map(limitOf).find(Boolean);
  const asked = wanted === undefined || limits.ignored.includes(wanted.field) ? undefined : wanted;
  const known = limit && windowLeft(limit, accountOf(of, key), now, count);
  const guess = asked?.ms ?? known;
  const end = (ms: number) => (now + ms > deadline ? LIMITED_UNTIL_END : undefined);
  const wait = (ms: number, why: string, gaveUp = end(ms)) => ({ until: now + ms, why, gaveUp });
  if (guess === undefined) return wait(backOff + MARGIN_MS, 'back-off');
  const why = asked === undefined ? sourceOf(limit!) : `${asked.field} ${describeMs(guess)}`;
  // If the first wait did not help, it was too short.
  const ms = guess + (count === 0 ? 0 : backOff) + MARGIN_MS;
  if (count < TRIES) {
    // A field alone does not stop a run: one more request tests it. A policy does not say when this refusal ends.
    const isOnlySaid = asked !== undefined || limit?.source === 'advertised';
    const isLong = end(ms) !== undefined || (asked === undefined && ms > runMs / 4);
    const isTested = isOnlySaid && count === 0 && isLong;
    return isTested ? wait(Math.min(known ?? backOff, backOff), why, end(backOff)) : wait(ms, why);
  }
  const quietMs = Math.max(ms, decidingMs([limit?.windowMs, of.learned?.windowMs], asked?.ms));
  const still = (afterMs: number, more: string) => `still 429 after ${describeMs(afterMs)}${more}`;
  if (count > TRIES)
    return wait(quietMs, why, still(refusal!.until - refusal!.lastAt, ' in which nothing was sent'));
  if (quietMs <= runMs / 4) return wait(quietMs, why);
  const more = `; ${describeMs(quietMs)} in which nothing is sent would show more`;
  return wait(quietMs, why, still(now - since, more));
}

/** Rest of a window, in ms; undefined if it should have ended. */
function windowLeft(
  { most, windowMs, source }: SourcedLimit,
  { counted }: Account,
  now: number,
  count: number,
) {
  if (source === 'stated') return windowMs;
  const first = counted.at(-most) ?? counted[0];
  return first === undefined || count > 0 ? undefined : Math.max(MIN_BACK_OFF_MS, first.at + windowMs - now);
}

/** Whether a 429 came before the stated limit was reached. */
function isBelowStated(limits: Limits, event: Refused, scope?: Scope): boolean {
  const { stated } = limits.endpoints[event.endpoint];
  return (
    stated !== undefined && usedIn(limits, event, stated.windowMs, event.at, scope).spent < stated.most - 1
  );
}

/** Compares the first 429 of a refusal with what is known. */
function compared(limits: Limits, event: Refused): Limits {
  const { endpoint, at: now, wanted } = event;
  const of = limits.endpoints[endpoint];
  const said = wanted === undefined ? '' : ` (${wanted.field} ${describeMs(wanted.ms)})`;
  const isUnused = [...of.accounts.values()].every(({ counted }) => counted.length === 0);
  const next = isUnused
    ? withRemark(limits, endpoint, 'used-up', `the limit was already used up when this run began${said}`)
    : limits;
  if (of.stated === undefined) {
    const isExplained = of.learned === undefined || fullTurn(next, { ...event, cost: 1 }, now) !== undefined;
    return isExplained ? next : withEndpoint(next, endpoint, { unexplained: of.unexplained + 1 });
  }
  if (!isBelowStated(next, event)) return next;
  const wider = scopes.find((scope) => !isBelowStated(next, event, scope));
  if (wider !== undefined) return withEndpoint(next, endpoint, { stated: { ...of.stated, scope: wider } });
  if (isUnused) return next;
  const { most, windowMs } = of.stated;
  const { spent } = usedIn(next, event, windowMs, now);
  if (wanted !== undefined && wanted.ms > windowMs + PRECISION_MS)
    return contradicted(next, endpoint, `429 after ${spent} counted requests${said}`);
  const what = `refused after ${spent} of ${most}: another run or client used this limit, or it is lower`;
  return withRemark(next, endpoint, 'early', what);
}
