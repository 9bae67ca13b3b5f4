import assert from 'node:assert/strict';
import type { Answer, Reply } from '../answer.ts';
import { inFlightOf } from '../engine/context.ts';
import type { Request } from '../request.ts';
import type { Context } from '../requirement.ts';
import { answerOf } from './samples.ts';
import { noise, type Limiter } from './simulated.ts';

/** A target with limiters, in a time of its own. */
export interface Simulation {
  /** The limiter of whoever a request is counted for; undefined: it is not counted, and passes. */
  readonly limiterOf: (request: Request) => Limiter | undefined;
  /** Requests take from nothing to so many ms there, and as many back. */
  readonly slowness?: number;
  /** When a request meets the target, in ms after its sending, by its lot and its place there; in place of `slowness`. */
  readonly meets?: (lot: number, place: number) => number;
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
  readonly statusOf?: (nth: number) => number;
}

interface Trip {
  readonly request: Request;
  readonly lost: boolean;
  readonly sentAt: number;
  readonly instant: number;
  readonly receivedAt: number;
  /** Set once it has met the limiter. */
  passes?: boolean;
  reply?: Reply;
}

const dueAt = ({ passes, instant, receivedAt }: Trip) => (passes === undefined ? instant : receivedAt);

const START = 10_000;

/** The way back of an answer whose way there is given, in ms. */
const BACK = 10;

/** First wait for a 429 to end, in ms; doubled each time, and given up after a day. */
const [FIRST_BACK_OFF, LONGEST_WAIT] = [500, 86_400_000];

/** A scenario context with a simulated target, and the requests that were sent. */
export function simulatedContext(simulation: Simulation) {
  const {
    limiterOf,
    slowness = 0,
    meets,
    seed = 1,
    forgetsAfter = 0,
    isLost = () => false,
    inFlight,
    statusOf,
  } = simulation;
  const isLostBefore = simulation.isLostBefore ?? (() => false);
  const lostBefore = (trip: Trip) => trip.lost && isLostBefore(log.indexOf(trip.request));
  const deadline = START + (simulation.deadline ?? 1_000_000_000);
  const next = noise(seed);
  const log: Request[] = [];
  const results = new Map<string, Promise<unknown>>();
  let now = START;
  let lots = 0;

  /** Whoever arrives first is asked first; time goes on to the last answer. */
  const burst = (requests: readonly Request[]): readonly Reply[] => {
    const sentAt = now;
    const lot = lots++;
    const trips = requests.map((request, place) => {
      const lost = isLost(log.push(request) - 1);
      const instant = sentAt + (meets?.(lot, place) ?? next() * slowness);
      return {
        request,
        lost,
        instant,
        receivedAt: instant + (meets === undefined ? next() * slowness : BACK),
      };
    });
    const replies = new Map<unknown, Reply>();
    for (const trip of trips.toSorted((a, b) => a.instant - b.instant)) {
      const { request, lost, instant, receivedAt } = trip;
      const status = limiterOf(request)?.(instant) === false ? 429 : 404;
      replies.set(
        trip,
        lost
          ? { kind: 'trouble', code: 'network', words: 'the connection was reset' }
          : { ...answerOf(status, {}), sentAt, receivedAt },
      );
      now = Math.max(now, receivedAt);
    }
    return trips.map((trip) => replies.get(trip)!);
  };
  /** Requests go out as soon as the pace allows; whoever arrives first is asked first. */
  const stream: Context['stream'] = (make, pace) => {
    const trips: Trip[] = [];
    const answers: Answer[] = [];
    const lot = lots++;
    let isOver = false;
    const underWay = new Set<Trip>();
    const maySend = () =>
      !isOver && trips.length < pace.most && underWay.size < inFlightOf(pace, answers, inFlight);
    for (;;) {
      while (maySend()) {
        const request = make();
        const lost = isLost(log.push(request) - 1);
        const instant = now + (meets?.(lot, trips.length) ?? next() * slowness);
        const receivedAt = instant + (meets === undefined ? next() * slowness : BACK);
        const trip: Trip = { request, lost, sentAt: now, instant, receivedAt };
        trips.push(trip);
        underWay.add(trip);
      }
      const [first] = [...underWay].toSorted((a, b) => dueAt(a) - dueAt(b));
      if (first === undefined) break;
      now = Math.max(now, dueAt(first));
      if (first.passes === undefined) {
        first.passes = lostBefore(first) || limiterOf(first.request)?.(first.instant) !== false;
        continue;
      }
      underWay.delete(first);
      const { sentAt, receivedAt, lost, passes } = first;
      first.reply = lost
        ? { kind: 'trouble', code: 'network', words: 'the connection was reset' }
        : { ...answerOf(passes ? 404 : (statusOf?.(trips.indexOf(first)) ?? 429), {}), sentAt, receivedAt };
      if (first.reply.kind === 'answer') {
        answers.push(first.reply);
        isOver ||= first.reply.status === 429;
      }
    }
    return Promise.resolve(trips.map(({ request, reply }) => ({ request, reply: reply! })));
  };
  const wait = (ms: number) => {
    assert.ok(ms >= 0);
    now = Math.max(now, Math.min(now + ms, deadline));
    return Promise.resolve();
  };
  const patiently: Context['patiently'] = async (request, onRefused) => {
    for (let backOff = FIRST_BACK_OFF; backOff < LONGEST_WAIT; backOff *= 2) {
      const [reply] = burst([request]);
      if (reply!.kind !== 'answer' || reply!.status !== 429) return reply!;
      onRefused(reply!);
      if (now + backOff > deadline) break;
      await wait(backOff);
    }
    return { kind: 'trouble', code: 'rate-limited', words: 'still 429' };
  };
  const oneByOne = async (requests: readonly Request[]) => {
    const replies: Reply[] = [];
    for (const request of requests) replies.push(await patiently(request, () => undefined));
    return replies;
  };
  const context: Context = {
    send: (...requests) => oneByOne(requests),
    sendAtOnce: (...requests) => oneByOne(requests),
    patiently,
    burst: (...requests) => Promise.resolve(burst(requests)),
    stream,
    rest: wait,
    settle: () => wait(forgetsAfter),
    once: <Result>(name: string, make: (own: Context) => Promise<Result>) => {
      const result = results.get(name) ?? make(context);
      results.set(name, result);
      return result as Promise<Result>;
    },
    wait,
    now: () => now,
    leftMs: () => deadline - now,
    cases: 100,
    keyWorks: () => true,
  };
  return { context, log, elapsedMs: () => now - START };
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
