import { trouble, type Answer } from '../answer.ts';
import { virtualClock } from '../engine/clock.ts';
import { createContexts } from '../engine/context.ts';
import { randomOf } from '../model/covering.ts';
import type { Request } from '../request.ts';
import type { Exchange } from '../requirement.ts';
import { answerOf } from './samples.ts';
import type { Limiter } from './simulated.ts';

/** A target with limiters, in a time of its own. */
export interface Simulation {
  /** The limiter of whoever a request is counted for; undefined: it is not counted, and passes. */
  readonly limiterOf: (request: Request) => Limiter | undefined;
  /** Requests take from nothing to so many ms there, and as many back. */
  readonly slowness?: number;
  /** When a request meets the target, in ms after its sending; in place of `slowness`. */
  readonly meets?: () => number;
  readonly seed?: number;
  /** When the run ends, in ms of its time. */
  readonly deadline?: number;
  /** What `settle` waits for, in ms. */
  readonly forgetsAfter?: number;
  /** Requests that get no answer, by the how manieth they are. */
  readonly isLost?: (nth: number) => boolean;
  /** Whether a lost request never reached the target; without it, it did. */
  readonly isLostBefore?: (nth: number) => boolean;
  /** Requests of a stream in flight, at most. */
  readonly inFlight?: number;
  /** What is answered in place of 429. */
  readonly statusOf?: () => number;
}

const START = 10_000;

const passed = answerOf(404, {});

/** The way back of an answer whose way there is given, in ms. */
const BACK = 10;

/** First wait for a 429 to end, in ms; doubled each time, and given up after a day. */
const [FIRST_BACK_OFF, LONGEST_WAIT] = [500, 86_400_000];

/** A request that is lost is sent so many times. */
const MAX_TRIES = 3;

/** A scenario context with a simulated target, and the requests that were sent. */
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
      rest: wait,
      settle: () => wait(forgetsAfter),
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

/** Requests are counted apart by what `account` says; those of no account are not counted. */
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

/** The key under which a request is made; undefined for those without one that was issued. */
export const keyOf = ({ credential }: Request) => (credential.as === 'key' ? credential.key.key : undefined);
