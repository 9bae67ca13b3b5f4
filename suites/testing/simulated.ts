import { trouble, type Answer } from '../answer.ts';
import { virtualClock } from '../engine/clock.ts';
import { createContexts } from '../engine/context.ts';
import { askedBy } from '../limits/costs.ts';
import { createChanges } from '../model/changes.ts';
import { randomOf } from '../model/covering.ts';
import type { Request } from '../request.ts';
import type { Exchange } from '../scenario-context.ts';
import { answerOf, sampleKnown } from './samples.ts';

/** Whether a request passes at an instant. Counts it if so. */
export type Limiter = (instant: number) => boolean;

type MakeLimiter = (most: number, windowMs: number, phase: number) => Limiter;

/** Limiters that keep a limit, written independently of the judge. */
export const limiters: Readonly<Record<string, MakeLimiter>> = {
  fixed: (most, windowMs) => lateCounting(most, windowMs, 0),
  // Also a bucket that is filled up at intervals.
  aligned: (most, windowMs, phase) => steppedBucket(most, windowMs, 1, phase),
  sliding: (most, windowMs) => sliding(most, windowMs, false),
  'sliding, refusals counted': (most, windowMs) => sliding(most, windowMs, true),
  'locked until a window without a try': (most, windowMs) => {
    let limiter = sliding(most, windowMs, false);
    let locked = Number.NEGATIVE_INFINITY;
    return (instant) => {
      if (instant >= locked + windowMs && limiter(instant)) return true;
      locked = instant;
      limiter = sliding(most, windowMs, false);
      return false;
    };
  },
  'fixed, with a ban': (most, windowMs) => withBan(lateCounting(most, windowMs, 0), 3 * windowMs),
  'aligned, with a ban': (most, windowMs, phase) =>
    withBan(steppedBucket(most, windowMs, 1, phase), 10 * windowMs),
  weighted: (most, windowMs, phase) => weightedWindow(most, windowMs, phase),
  bucket: (most, windowMs) => tokenBucket(most, windowMs),
  'bucket, a quarter at intervals': (most, windowMs, phase) => steppedBucket(most, windowMs, 4, phase),
  'bucket, a tenth at intervals': (most, windowMs, phase) => steppedBucket(most, windowMs, 10, phase),
  'bucket, a twentieth at intervals': (most, windowMs, phase) => steppedBucket(most, windowMs, 20, phase),
  'bucket, a part each second': (most, windowMs, phase) =>
    steppedBucket(most, windowMs, windowMs / 1000, phase),
};

function sliding(most: number, windowMs: number, areRefusalsCounted: boolean): Limiter {
  let hits: number[] = [];
  return (instant) => {
    hits = hits.filter((hit) => hit > instant - windowMs);
    const passes = hits.length < most;
    if (passes || areRefusalsCounted) hits.push(instant);
    return passes;
  };
}

/** A token bucket with even refill, full at the start. */
const tokenBucket = (holds: number, windowMs: number): Limiter => {
  let level = holds;
  let last = 0;
  return (instant) => {
    level = Math.min(holds, level + ((instant - last) * holds) / windowMs);
    last = instant;
    if (level < 1) return false;
    level--;
    return true;
  };
};

/** A token bucket that is refilled in equal parts, `times` per window. */
const steppedBucket = (holds: number, windowMs: number, times: number, phase: number): Limiter => {
  const parts = Math.min(times, holds);
  let level = holds;
  let last = Number.NEGATIVE_INFINITY;
  return (instant) => {
    const interval = Math.floor(((instant - phase) * parts) / windowMs);
    level = Math.min(holds, level + (interval - last) * Math.floor(holds / parts));
    last = interval;
    if (level < 1) return false;
    level--;
    return true;
  };
};

/** Refuses everything for `banMs` after each refusal of another limiter. */
const withBan = (limiter: Limiter, banMs: number): Limiter => {
  let bannedUntil = Number.NEGATIVE_INFINITY;
  return (instant) => {
    if (instant < bannedUntil) return false;
    if (limiter(instant)) return true;
    bannedUntil = instant + banMs;
    return false;
  };
};

/** A window that counts each request `laterMs` after it passed. It begins with a request, or at a phase below 0. */
export const lateCounting = (most: number, windowMs: number, laterMs: number, phase?: number): Limiter => {
  let counted: number[] = [];
  let start = Number.NEGATIVE_INFINITY;
  return (instant) => {
    const into = phase === undefined ? 0 : (instant - phase) % windowMs;
    if (instant >= start + windowMs) [start, counted] = [instant - into, []];
    if (counted.filter((at) => at <= instant).length >= most) return false;
    counted.push(instant + laterMs);
    return true;
  };
};

/** A weighted window: counts the part of the previous window that is less than a window ago. */
const weightedWindow = (most: number, windowMs: number, phase: number): Limiter => {
  const counts = new Map<number, number>();
  return (instant) => {
    const at = Math.floor((instant - phase) / windowMs);
    const into = (instant - phase) / windowMs - at;
    const count = counts.get(at) ?? 0;
    if ((counts.get(at - 1) ?? 0) * (1 - into) + count + 1 > most) return false;
    counts.set(at, count + 1);
    return true;
  };
};

/** A simulated target with limiters and its own clock. */
export interface Simulation {
  /** The name of the limiter that counts a request, by default its key; undefined if it is not counted. */
  readonly account?: (request: Request) => string | undefined;
  /** Maximum latency of each direction, in ms. */
  readonly slowness?: number;
  /** Fixed latency from sending to the target, in ms; instead of `slowness`. */
  readonly meets?: () => number;
  readonly seed?: number;
  readonly deadline?: number;
  /** Whether the `nth` request gets no answer. */
  readonly isLost?: (nth: number) => boolean;
  /** Whether the `nth` request is lost before it reaches the target, not after. */
  readonly isLostBefore?: (nth: number) => boolean;
  readonly inFlight?: number;
  readonly statusOf?: () => number;
  /** The longest window that the run knows, in ms. */
  readonly windowMs?: number;
  /** Whether the target contradicts the stated limit. */
  readonly isContradicted?: boolean;
}

const START = 10_000;

const passed = answerOf(404, {});

/** Latency of an answer if `meets` is given, in ms. */
const BACK = 10;

/** First and longest back-off after 429, in ms. It doubles each time. */
const [FIRST_BACK_OFF, LONGEST_WAIT] = [500, 86_400_000];

const MAX_TRIES = 3;

/** A scenario context with a simulated target, one limiter for each account, and a log of its requests. */
export function limitedContext(make: () => Limiter, simulation: Simulation = {}) {
  const { account = failedLookups, slowness = 0, meets, seed = 1, inFlight, statusOf } = simulation;
  const { windowMs = WINDOW_MS, isContradicted = false } = simulation;
  const { isLost = () => false, isLostBefore = () => false } = simulation;
  const clock = virtualClock(START);
  const deadline = START + (simulation.deadline ?? 1_000_000_000);
  const { signal } = new AbortController();
  const next = randomOf(seed);
  const log: Request[] = [];
  const made = new Map<string, Limiter>();

  /** Whether a request passes now. Counts it if so. */
  const isPassing = (request: Request) => {
    const name = account(request);
    if (name === undefined) return true;
    const limiter = made.get(name) ?? make();
    made.set(name, limiter);
    return limiter(clock.now());
  };
  const sendOnce = async (request: Request): Promise<Exchange> => {
    const nth = log.push(request) - 1;
    const lost = isLost(nth);
    const sentAt = clock.now();
    const there = meets?.() ?? next() * slowness;
    const back = meets === undefined ? next() * slowness : BACK;
    await clock.sleep(there);
    const passes = (lost && isLostBefore(nth)) || isPassing(request);
    await clock.sleep(back);
    if (lost) return { request, reply: trouble('network', 'the connection was reset') };
    const answer = passes ? passed : answerOf(statusOf?.() ?? 429, {});
    return { request, reply: { ...answer, sentAt, receivedAt: clock.now() } };
  };
  const wait = (ms: number) => clock.sleep(Math.min(ms, Math.max(0, deadline - clock.now())));
  const send = async (
    request: Request,
    { onRefused }: { readonly onRefused?: (answer: Answer) => void } = {},
  ): Promise<Exchange> => {
    for (let backOff = FIRST_BACK_OFF; backOff < LONGEST_WAIT; backOff *= 2) {
      let { reply } = await sendOnce(request);
      for (let tries = 1; tries < MAX_TRIES && reply.kind === 'trouble'; tries++)
        ({ reply } = await sendOnce(request));
      if (reply.kind !== 'answer' || reply.status !== 429) return { request, reply };
      onRefused?.(reply);
      if (clock.now() + backOff > deadline) break;
      await wait(backOff);
    }
    return { request, reply: trouble('rate-limited', 'still 429') };
  };
  const contextOf = createContexts({
    sender: {
      send,
      sendOnce,
      waitForQuiet: (_endpoint, ms) => wait(ms),
      longestWindowMs: () => windowMs,
      isContradicted: () => isContradicted,
      keyWorks: () => true,
    },
    clock,
    signal,
    deadline,
    wholeRunMs: () => 0,
    cases: 100,
    burstConcurrency: inFlight,
    verdictsOn: () => [],
    failsAnyway: () => false,
    changes: createChanges(sampleKnown),
    alone: (work) => work(),
    onWait: () => undefined,
    lookupsOf: () => undefined,
    graceMs: 0,
  });
  return { context: contextOf('simulated'), log, elapsedMs: () => clock.now() - START };
}

/** The issued key of a request, if any. */
export const keyOf = ({ credential }: Request) => (credential.as === 'key' ? credential.key.key : undefined);

export const MOST = 12;
export const WINDOW_MS = 2000;

/** The sample data with limits of MOST in WINDOW_MS, and without limits. */
export const stated = {
  ...sampleKnown,
  limits: {
    'user-status': { failedLookups: MOST, windowSeconds: WINDOW_MS / 1000 },
    'deposit-check': { requests: MOST, windowSeconds: WINDOW_MS / 1000 },
  },
};
export const unstated = { ...stated, limits: {} };

/** The issued key of a request that may count; undefined for other requests. */
const failedLookups = (request: Request) =>
  askedBy(stated, request).cost === 0 ? undefined : keyOf(request);

/** A limiter that never passes again after MOST requests. */
export const never = (): Limiter => {
  let count = 0;
  return () => count++ < MOST;
};
