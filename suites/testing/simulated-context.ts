import { trouble, type Answer } from '../answer.ts';
import { virtualClock } from '../engine/clock.ts';
import { createContexts } from '../engine/context.ts';
import { costOf } from '../engine/sender.ts';
import { randomOf } from '../model/covering.ts';
import type { Request } from '../request.ts';
import type { Exchange } from '../requirement.ts';
import { answerOf, sampleKnown } from './samples.ts';
import type { Limiter } from './simulated.ts';

/** A simulated target with limiters and its own clock. */
export interface Simulation {
  /** The limiter that counts a request; undefined if it is not counted. */
  readonly limiterOf: (request: Request) => Limiter | undefined;
  /** Maximum latency of each direction, in ms. */
  readonly slowness?: number;
  /** Fixed latency from sending to the target, in ms; instead of `slowness`. */
  readonly meets?: () => number;
  readonly seed?: number;
  readonly deadline?: number;
  /** How long `waitForReset` waits, in ms. */
  readonly forgetsAfter?: number;
  /** Whether the `nth` request gets no answer. */
  readonly isLost?: (nth: number) => boolean;
  /** Whether the `nth` request is lost before it reaches the target, not after. */
  readonly isLostBefore?: (nth: number) => boolean;
  readonly inFlight?: number;
  readonly statusOf?: () => number;
}

const START = 10_000;

const passed = answerOf(404, {});

/** Latency of an answer if `meets` is given, in ms. */
const BACK = 10;

/** First and longest back-off after 429, in ms. It doubles each time. */
const [FIRST_BACK_OFF, LONGEST_WAIT] = [500, 86_400_000];

const MAX_TRIES = 3;

/** A scenario context with a simulated target, and a log of its requests. */
export function simulatedContext(simulation: Simulation) {
  const { limiterOf, slowness = 0, meets, seed = 1, forgetsAfter = 0, inFlight, statusOf } = simulation;
  const { isLost = () => false, isLostBefore = () => false } = simulation;
  const clock = virtualClock(START);
  const deadline = START + (simulation.deadline ?? 1_000_000_000);
  const { signal } = new AbortController();
  const next = randomOf(seed);
  const log: Request[] = [];

  const sendOnce = async (request: Request): Promise<Exchange> => {
    const nth = log.push(request) - 1;
    const lost = isLost(nth);
    const sentAt = clock.now();
    const there = meets?.() ?? next() * slowness;
    const back = meets === undefined ? next() * slowness : BACK;
    await clock.sleep(there);
    const passes = (lost && isLostBefore(nth)) || limiterOf(request)?.(clock.now()) !== false;
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
      waitForQuiet: wait,
      waitForReset: () => wait(forgetsAfter),
      keyWorks: () => true,
    },
    clock,
    signal,
    deadline,
    cases: 100,
    burstConcurrency: inFlight,
  });
  return { context: contextOf('simulated'), log, elapsedMs: () => clock.now() - START };
}

/** One limiter for each name that `account` returns; undefined is not counted. */
export function countedBy(
  account: (request: Request) => string | undefined,
  make: () => Limiter,
): Simulation['limiterOf'] {
  const limiters = new Map<string, Limiter>();
  return (request) => {
    const name = account(request);
    if (name === undefined) return undefined;
    const limiter = limiters.get(name) ?? make();
    limiters.set(name, limiter);
    return limiter;
  };
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
const failedLookups = (request: Request) => (costOf(request, stated) === 0 ? undefined : keyOf(request));

/** A limiter that never passes again after MOST requests. */
export const never = (): Limiter => {
  let count = 0;
  return () => count++ < MOST;
};

export type LimitedSimulation = Partial<Simulation> & {
  readonly account?: (request: Request) => string | undefined;
};

/** A simulated target with one limiter for each name that `account` returns, by default for each key. */
export function limitedContext(
  make: () => Limiter,
  { account = failedLookups, ...more }: LimitedSimulation = {},
) {
  return simulatedContext({ limiterOf: countedBy(account, make), forgetsAfter: WINDOW_MS + 20, ...more });
}
