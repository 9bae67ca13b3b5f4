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
  /** When the run ends, and how long it may take, in ms. */
  readonly deadline: number;
  readonly runMs: number;
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
  /** No window explains the refusals: only a 429 makes requests wait. So many passed since a time (ms). */
  readonly pace?: RateLimit & { readonly from: number };
};

/** The limiter of an endpoint. */
export interface EndpointLimits {
  /** Missing if none was stated, or if the target contradicted it. */
  readonly stated: SourcedLimit | undefined;
  /** The limit that explains the refusals so far, or that an answer names. */
  readonly learned: SourcedLimit | undefined;
  /** The latest refusals that ended. */
  readonly refusals: readonly EndedRefusal[];
  /** Refusals that the limit does not explain: other requests count too, or other clients use the key. */
  readonly unexplained: number;
  /** By key; the empty key stands for all requests without an accepted one. */
  readonly accounts: readonly Account[];
}

/** When a server may have counted a request, in ms of the engine's clock. */
interface Span {
  readonly sentAt: number;
  readonly at: number;
}

/** One key on one endpoint. Times are in ms of the engine's clock. */
interface Account {
  readonly key: string;
  /** Requests without an answer yet that may count, and all of them. */
  readonly inFlight: number;
  readonly flying: number;
  /** The latest requests that counted, in the order of their answers, in parts: the next state shares most of them. */
  readonly counted: readonly (readonly Span[])[];
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
  /** The field that asks for a wait, and when that wait ends. */
  readonly wanted?: { readonly field: string; readonly until: number };
  /** Why waiting was given up. */
  readonly gaveUp: string | undefined;
}

export const newAccount = (key: string): Account => ({
  key,
  inFlight: 0,
  flying: 0,
  counted: [],
  refusal: undefined,
  advertised: undefined,
});

/** What a run knows at its start: the stated limits and its own bounds. */
export const newLimits = (
  stated: Readonly<Partial<Record<Endpoint, RateLimit>>>,
  { deadline, runMs }: Pick<Limits, 'deadline' | 'runMs'>,
): Limits => {
  const of = (endpoint: Endpoint): EndpointLimits => ({
    stated: stated[endpoint] && { ...stated[endpoint], source: 'stated' },
    learned: undefined,
    refusals: [],
    unexplained: 0,
    accounts: [],
  });
  return {
    endpoints: { 'user-status': of('user-status'), 'deposit-check': of('deposit-check') },
    ignored: [],
    remarks: [],
    deadline,
    runMs,
  };
};

/** Who asks: an endpoint, an accepted key or the empty one, and whether the request may count. */
export interface Asked {
  readonly endpoint: Endpoint;
  readonly key: string;
  readonly cost: 0 | 1;
}

/** A request is over: it got 429, another answer, or none. Times are in ms. */
interface Ended extends Asked {
  readonly kind: 'refused' | 'answered' | 'lost';
  readonly at: number;
  readonly sentAt: number;
  /** Whether it waited for its turn. A 429 to another one teaches nothing. */
  readonly isAdmitted: boolean;
  /** Whether it counted, judged by its answer. A lost one may have. */
  readonly counted: boolean;
  /** What the answer says about limits. */
  readonly policies: readonly Policy[];
  readonly advertised?: Advertised | undefined;
  readonly wanted?: RequestedWait | undefined;
}

/** `retry`: another try for a key that was given up. */
export type LimitEvent = (Asked & { readonly kind: 'sent' }) | (Asked & { readonly kind: 'retry' }) | Ended;

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

/** Requests that are kept without a stated limit, and how many are a part. */
const [MAX_COUNTED, PART] = [4000, 64];

/** After so many unexplained refusals, requests are no longer counted: only a 429 makes them wait. */
const MAX_UNEXPLAINED = 5;

/** Their pace is the time that so many take. */
const PACE = 20;

export const accountOf = ({ accounts }: EndpointLimits, key: string): Account =>
  accounts.find((one) => one.key === key) ?? newAccount(key);

/** The limit that a run keeps to. */
export const limitOf = ({ stated, learned }: EndpointLimits): SourcedLimit | undefined => stated ?? learned;

/** A window that refuses too early passes its limit in so many times the time: a part of the one before counts too. */
const EARLY_WINDOWS = 1.4;

/** What passes in the long run, as far as it is known. */
export function paceOf(of: EndpointLimits): SourcedLimit | undefined {
  const limit = limitOf(of);
  if (limit === undefined) return undefined;
  const { most, windowMs, scope = 'key' } = limit.pace ?? limit;
  const isEarly = limit.source === 'stated' && of.unexplained > 0;
  return { most, scope, windowMs: windowMs * (isEarly ? EARLY_WINDOWS : 1), source: limit.source };
}

/** The limit after an event: a known one, or else the one that the Retry-After of a 429 suggests. */
export function limitShownBy(limits: Limits, event: LimitEvent): RateLimit | undefined {
  const of = limits.endpoints[event.endpoint];
  const limit = limitOf(of);
  if (limit !== undefined) return paceOf(of);
  if (event.kind !== 'refused' || event.wanted === undefined) return undefined;
  const counted = accountOf(of, event.key).counted.flat();
  const [first] = counted;
  const { at, wanted } = event;
  // A window that began earlier would have ended: those requests tell nothing about it.
  return first === undefined || at - first.at > wanted.ms
    ? undefined
    : { most: counted.length, windowMs: at - first.at + wanted.ms };
}

/** When a request may be sent. */
export function nextTurn(limits: Limits, asked: Asked, now: number): Turn {
  const { endpoint, key, cost } = asked;
  const { refusal, advertised, inFlight, flying } = accountOf(limits.endpoints[endpoint], key);
  if (refusal !== undefined) {
    const { gaveUp, why, until, closedUntil } = refusal;
    if (gaveUp !== undefined) return { kind: 'never', why: gaveUp };
    const at = cost === 0 ? closedUntil : Math.max(until, closedUntil);
    if (now < at) return { kind: 'at', at, why };
    // One request shows if it has ended: one that counts, or any, if all were refused.
    if (closedUntil > 0 ? flying > 0 : cost > 0 && inFlight > 0) return { kind: 'reply' };
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

/**
 * The turn of a request if the window of a stated or learned limit is full; undefined if it is not. The limit is kept
 * to but for one request: at the threshold, a limiter refuses free requests too.
 */
function fullTurn(limits: Limits, { endpoint, key, cost }: Asked, now: number): Turn | undefined {
  const limit = limitOf(limits.endpoints[endpoint]);
  if (limit === undefined || limit.pace !== undefined || key === '') return undefined;
  // Requests with a revoked key are free, although its limit may be that of all keys.
  if (cost === 0 && accountOf(limits.endpoints[endpoint], key).counted.length === 0) return undefined;
  const { most, windowMs } = limit;
  const { spent, firstAt } = usedIn(limits, { endpoint, key }, windowMs, now);
  if (spent < (cost === 0 ? most : Math.max(1, most - 1))) return undefined;
  return Number.isFinite(firstAt)
    ? { kind: 'at', at: leavesAt(firstAt, windowMs), why: sourceOf(limit) }
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
  let spent = 0;
  let firstAt = Number.POSITIVE_INFINITY;
  for (const { inFlight, counted } of accountsIn(limits, endpoint, key, scope)) {
    spent += inFlight;
    for (const part of counted) {
      const first = firstWithin(part, windowMs, now);
      spent += part.length - first;
      firstAt = Math.min(firstAt, part[first]?.at ?? Infinity);
    }
  }
  return { spent, firstAt };
}

/** When a request leaves a window. A sum for each comparison: another order rounds otherwise, and a plan waits for ever. */
const leavesAt = (at: number, windowMs: number) => at + windowMs + MARGIN_MS;

/** The place of the first request that is still in a window. */
function firstWithin(counted: readonly Span[], windowMs: number, now: number): number {
  let first = 0;
  let end = counted.length;
  while (first < end) {
    const middle = (first + end) >> 1;
    if (leavesAt(counted[middle]!.at, windowMs) <= now) first = middle + 1;
    else end = middle;
  }
  return first;
}

/** The accounts that a limiter counts together. */
function accountsIn(
  limits: Limits,
  endpoint: Endpoint,
  key: string,
  scope = limitOf(limits.endpoints[endpoint])?.scope ?? 'key',
): readonly Account[] {
  const names = scope === 'key' || scope === 'endpoint' ? [endpoint] : endpointNames;
  if (scope === 'key' || scope === 'key on both endpoints')
    return names.map((name) => accountOf(limits.endpoints[name], key));
  return names.flatMap((name) => limits.endpoints[name].accounts.filter((one) => one.key !== ''));
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
  let [best, least] = [keys[0]!, Infinity];
  for (const key of keys) {
    const its = rank(key);
    if (its < least) [best, least] = [key, its];
    // Nothing comes before it.
    if (its === 0) break;
  }
  return best;
}

/** A copy of the state, in which an event changes what it is about. */
type Changing<Of> = { -readonly [Name in keyof Of]: Of[Name] };

interface Draft {
  readonly limits: Changing<Limits>;
  readonly of: Changing<EndpointLimits>;
  readonly account: Changing<Account>;
}

/** The state after an event. */
export function reduce(before: Limits, event: LimitEvent): Limits {
  const { endpoint, key, cost } = event;
  const account = { ...accountOf(before.endpoints[endpoint], key) };
  const of = { ...before.endpoints[endpoint] };
  of.accounts = [...of.accounts.filter((one) => one.key !== key), account];
  const limits = { ...before, endpoints: { ...before.endpoints, [endpoint]: of } };
  const draft: Draft = { limits, of, account };
  if (event.kind === 'sent') {
    account.inFlight += cost;
    account.flying++;
  } else if (event.kind === 'retry') {
    const { refusal } = account;
    account.refusal = refusal && {
      ...refusal,
      gaveUp: undefined,
      count: Math.min(refusal.count, TRIES),
    };
  } else ended(draft, event);
  return limits;
}

function ended(draft: Draft, event: Ended): void {
  const { account } = draft;
  if (event.isAdmitted) {
    account.inFlight -= event.cost;
    account.flying--;
  } else if (event.kind === 'refused') return;
  comparePolicies(draft, event);
  if (event.kind === 'refused') refused(draft, event);
  else passed(draft, event);
}

function remark(limits: Changing<Limits>, endpoint: Endpoint, kind: Remark['kind'], what: string): void {
  if (!limits.remarks.some((one) => one.endpoint === endpoint && one.kind === kind))
    limits.remarks = [...limits.remarks, { endpoint, kind, words: `${endpoint}: ${what}` }];
}

/** A field was wrong: it is ignored from now on. */
function ignore(limits: Changing<Limits>, field: string): void {
  if (!limits.ignored.includes(field)) limits.ignored = [...limits.ignored, field];
}

/** The target does not have the stated limit: from now on the run goes by what it saw. */
function contradict({ limits, of }: Draft, endpoint: Endpoint, what: string): void {
  if (of.stated === undefined) return;
  remark(limits, endpoint, 'contradiction', `${what}, but ${describeLimit(of.stated)} is stated`);
  of.stated = undefined;
}

/**
 * Compares the limits that an answer names with the stated one. Without a stated one, the shortest window that explains
 * a 429 is the limit.
 */
function comparePolicies(draft: Draft, event: Ended): void {
  const { limits, of } = draft;
  const { endpoint, key, at } = event;
  const policies = event.policies.filter(({ field }) => !limits.ignored.includes(field));
  const { stated, learned } = of;
  if (policies.length === 0 || key === '') return;
  if (stated !== undefined) {
    if (policies.some((one) => one.most === stated.most && one.windowMs === stated.windowMs)) return;
    const stricter = policies.find((one) => one.most <= stated.most && one.windowMs > stated.windowMs);
    if (stricter === undefined) return;
    contradict(draft, endpoint, `${stricter.field} says ${describeLimit(stricter)}`);
    of.learned = { ...stricter, source: 'advertised' };
  } else if (event.kind === 'refused' && learned?.source !== 'advertised') {
    const [shortest] = policies
      .filter(({ most, windowMs }) => usedIn(limits, event, windowMs, at).spent >= most)
      .toSorted((a, b) => a.windowMs - b.windowMs);
    if (shortest !== undefined) of.learned = { ...shortest, source: 'advertised' };
  }
}

/** A request passed, or was lost: the server may have counted it. */
function passed(draft: Draft, event: Ended): void {
  const { limits, of, account } = draft;
  const { key, at, sentAt, kind, advertised, cost } = event;
  const { refusal, advertised: last } = account;
  if (kind === 'answered' && event.isAdmitted && refusal !== undefined) {
    if (cost > 0 && sentAt >= refusal.until) unblocked(draft, event, refusal);
    // A request that does not count passed: such requests may go on.
    else if (cost === 0 && sentAt >= refusal.closedUntil) account.refusal = { ...refusal, closedUntil: 0 };
  }
  const wasOut = last !== undefined && last.remaining <= 0 && sentAt > last.at;
  if (event.counted && kind === 'answered' && wasOut && sentAt < last.resetAt - PRECISION_MS)
    ignore(limits, last.field);
  if (advertised !== undefined && advertised.at >= (last?.at ?? 0)) account.advertised = advertised;
  if (!event.counted || key === '') return;
  const kept = of.stated === undefined ? MAX_COUNTED : 2 * burstSize(of.stated);
  account.counted = added(account.counted, { sentAt, at }, kept);
  dropPolicy(draft, event);
}

/** @param kept so many of those before stay at least */
function added(counted: Account['counted'], one: Span, kept: number): Account['counted'] {
  const last = counted.at(-1) ?? [];
  return last.length % PART === 0
    ? [...counted.slice(-Math.ceil(kept / PART)), [one]]
    : counted.with(counted.length - 1, [...last, one]);
}

/** An advertised limit is none if more passed within its window than two windows allow. */
function dropPolicy({ limits, of }: Draft, { endpoint, key, at }: Ended): void {
  if (of.learned?.field === undefined) return;
  const { most, windowMs, field } = of.learned;
  const passes = accountsIn(limits, endpoint, key).flatMap(({ counted }) =>
    counted.flat().filter(({ sentAt }) => sentAt > at - windowMs),
  );
  if (passes.length <= 2 * most) return;
  ignore(limits, field);
  of.learned = undefined;
}

/** The refusal of a key ended. Its length gives the window, the requests counted before it give the threshold. */
function unblocked(draft: Draft, { endpoint, key, sentAt }: Ended, refusal: Refusal): void {
  const { since, lastAt, count, until, isEarly, wanted } = refusal;
  draft.account.refusal = undefined;
  if (wanted !== undefined && sentAt < wanted.until - PRECISION_MS) ignore(draft.limits, wanted.field);
  // Retry-After is rounded up to whole seconds.
  const least = Math.max(lastAt, count > 1 ? 0 : until - MARGIN_MS - PRECISION_MS);
  learn(draft, endpoint, { key, least, most: sentAt });
  const { stated } = draft.of;
  if (stated === undefined || !isEarly || least - since <= stated.windowMs + PRECISION_MS) return;
  const what = `a 429 came before the stated limit was reached and lasted ${describeMs(least - since)}`;
  contradict(draft, endpoint, what);
}

function learn({ limits, of }: Draft, endpoint: Endpoint, refusal: EndedRefusal): void {
  const { learned } = of;
  if (learned?.source === 'advertised') return;
  const counted = accountOf(of, refusal.key).counted.flat();
  if (!counted.some(({ at }) => at < refusal.most)) return;
  of.refusals = [...of.refusals, refusal].slice(-8);
  // Refusals that come one after another, as with a bucket, would make the window longer and longer.
  if (learned !== undefined && of.unexplained >= MAX_UNEXPLAINED) {
    const from = learned.pace?.from ?? of.refusals[0]!.most;
    const count = counted.filter(({ at }) => at > from).length;
    const everyMs = Math.max(1, refusal.most - from) / Math.max(1, count);
    // Who keeps to a limit leaves one request of each window.
    const pace = { most: PACE + 1, windowMs: PACE * everyMs, scope: 'key', from } as const;
    of.learned = { ...learned, pace };
    return;
  }
  const found = bestScope(of.refusals, (key, scope) =>
    accountsIn(limits, endpoint, key, scope).flatMap((one) => one.counted.flat().map(({ sentAt }) => sentAt)),
  );
  if (found !== undefined) of.learned = { ...found, source: 'learned' };
}

/** A 429: nothing that counts is sent with the key until it may have ended. */
function refused(draft: Draft, event: Ended): void {
  const { limits, account } = draft;
  const { endpoint, key, at: now, sentAt, cost, wanted } = event;
  const { refusal } = account;
  // Requests in flight at the first 429 show nothing new, except that those that do not count are refused too.
  if (refusal !== undefined && sentAt < refusal.until) {
    if (cost === 0) account.refusal = { ...refusal, closedUntil: refusal.until };
    return;
  }
  if (refusal === undefined && key !== '') compareStated(draft, event);
  const wait = waitAfter(draft, event);
  account.refusal = {
    since: sentAt,
    closedUntil: 0,
    isEarly: key !== '' && isBelowStated(limits, event),
    ...refusal,
    ...wait,
    lastAt: sentAt,
    count: (refusal?.count ?? 0) + 1,
    ...(cost === 0 && { closedUntil: wait.until }),
    ...(wanted !== undefined && { wanted: { field: wanted.field, until: now + wanted.ms } }),
  };
  if (wait.gaveUp !== LIMITED_UNTIL_END || wanted === undefined) return;
  const end = now + wanted.ms;
  learn(draft, endpoint, { key, least: end - PRECISION_MS, most: end });
}

/** Until when to wait after a 429 (ms), and why. */
function waitAfter({ limits, of, account }: Draft, event: Ended): Pick<Refusal, 'until' | 'why' | 'gaveUp'> {
  const { deadline, runMs, ignored } = limits;
  const { key, at: now, sentAt, wanted } = event;
  const { refusal } = account;
  const { count, since } = refusal ?? { count: 0, since: sentAt };
  const backOff = Math.min(MIN_BACK_OFF_MS * 2 ** count, Math.max(MAX_BACK_OFF_MS, (now - since) / 4));
  const { stated, learned } = of;
  const asked = wanted === undefined || ignored.includes(wanted.field) ? undefined : wanted;
  const guess = asked?.ms ?? (key === '' ? undefined : stated?.windowMs);
  const end = (ms: number) => (now + ms > deadline ? LIMITED_UNTIL_END : undefined);
  const wait = (ms: number, why: string, gaveUp = end(ms)) => ({ until: now + ms, why, gaveUp });
  if (guess === undefined) return wait(backOff + MARGIN_MS, 'back-off');
  const why = asked === undefined ? sourceOf(stated!) : `${asked.field} ${describeMs(guess)}`;
  // If the first wait did not help, it was too short.
  const ms = guess + (count === 0 ? 0 : backOff) + MARGIN_MS;
  if (count < TRIES) {
    // A field alone does not stop a run: one more request tests it.
    const isTested = asked !== undefined && count === 0 && end(ms) !== undefined;
    return wait(isTested ? backOff : ms, why);
  }
  const quietMs = Math.max(ms, decidingMs([stated?.windowMs, learned?.windowMs], asked?.ms));
  const still = (afterMs: number, more: string) => `still 429 after ${describeMs(afterMs)}${more}`;
  if (count > TRIES)
    return wait(quietMs, why, still(refusal!.until - refusal!.lastAt, ' in which nothing was sent'));
  if (quietMs <= runMs / 4) return wait(quietMs, why);
  const more = `; ${describeMs(quietMs)} in which nothing is sent would show more`;
  return wait(quietMs, why, still(now - since, more));
}

/** Whether a 429 came before the stated limit was reached. */
function isBelowStated(limits: Limits, event: Ended, scope?: Scope): boolean {
  const { stated } = limits.endpoints[event.endpoint];
  return (
    stated !== undefined && usedIn(limits, event, stated.windowMs, event.at, scope).spent < stated.most - 1
  );
}

/** Compares the first 429 of a refusal with what is known. */
function compareStated(draft: Draft, event: Ended): void {
  const { limits, of } = draft;
  const { endpoint, at: now, wanted } = event;
  const { stated, learned } = of;
  const said = wanted === undefined ? '' : ` (${wanted.field} ${describeMs(wanted.ms)})`;
  const isUnused = of.accounts.every(({ counted }) => counted.length === 0);
  if (isUnused)
    remark(limits, endpoint, 'used-up', `the limit was already used up when this run began${said}`);
  if (stated === undefined) {
    if (learned !== undefined && fullTurn(limits, { ...event, cost: 1 }, now) === undefined) of.unexplained++;
    return;
  }
  if (!isBelowStated(limits, event)) return;
  const { spent } = usedIn(limits, event, stated.windowMs, now);
  // No scope explains a longer wait.
  if (!isUnused && wanted !== undefined && wanted.ms > stated.windowMs + PRECISION_MS)
    return contradict(draft, endpoint, `429 after ${spent} counted requests${said}`);
  const wider = scopes.find((scope) => !isBelowStated(limits, event, scope));
  if (wider !== undefined) of.stated = { ...stated, scope: wider };
  if (wider !== undefined || isUnused) return;
  of.unexplained++;
  const what = `refused after ${spent} of ${stated.most}: another run or client used this limit, or it is lower`;
  remark(limits, endpoint, 'early', what);
}
