import type { Answer } from '../answer.ts';
import type { Context, Exchange, Pace } from '../scenario-context.ts';
import { IN_FLIGHT_AT_FIRST } from '../engine/context.ts';
import type { TimedRequest } from './history.ts';
import type { Supply } from './kinds.ts';
import { burstSize, lateMs, type RateLimit } from './limit.ts';

/** Result of a stream of requests of one kind, up to the first 429. */
export type Stream = Awaited<ReturnType<typeof stream>>;

/** Whether a front end may have sent this status: the server may have counted the request or not. */
const isUncertain = (status: number) => status === 408 || status >= 500;

/**
 * Sends new requests up to the first 429 or to `most` of them. Never retries.
 *
 * @param later paces of further requests, each after a pause
 */
export async function stream(
  context: Context,
  { kind, next }: Supply,
  pace: Pace,
  later: readonly Pace[] = [],
  pauseMs = 0,
) {
  const startedAt = context.now();
  const sent = [...(await context.stream(next, pace))];
  for (const following of later) {
    if (sent.some(isRefused) || sent.at(-1)?.reply.kind === 'trouble') break;
    await context.wait(pauseMs);
    sent.push(...(await context.stream(next, following)));
  }
  const history = timedRequestsOf(sent, startedAt);
  const refused = sent.find(isRefused);
  const replies = sent.map(({ reply }) => reply);
  return {
    kind,
    sent: sent.length,
    /** Answers other than 429 that show that a limiter let the request pass. */
    passed: history.filter(({ result }) => result === 'passed').length,
    elapsedMs: context.now() - startedAt,
    history,
    refusal: refused && { request: refused.request, answer: refused.reply as Answer },
    /** The first request that got no answer or was not sent. */
    trouble: replies.find((reply) => reply.kind === 'trouble'),
  };
}

const isRefused = ({ reply }: Exchange) => reply.kind === 'answer' && reply.status === 429;

/** The requests that were sent, in order. */
function timedRequestsOf(sent: readonly Exchange[], startedAt: number): readonly TimedRequest[] {
  let last = startedAt;
  return sent.flatMap(({ reply }): readonly TimedRequest[] => {
    if (reply.kind === 'trouble')
      return reply.code === 'network' || reply.code === 'timeout'
        ? [{ sentAt: last, receivedAt: Number.POSITIVE_INFINITY, result: 'lost', words: reply.words }]
        : [];
    last = reply.sentAt;
    return [timedRequestOf(reply)];
  });
}

export function timedRequestOf({ sentAt, receivedAt, status }: Answer): TimedRequest {
  if (status === 429) return { sentAt, receivedAt, result: 'refused' };
  return isUncertain(status)
    ? { sentAt, receivedAt, result: 'lost', words: `${status}` }
    : { sentAt, receivedAt, result: 'passed' };
}

/** A limited key is probed at these fractions of its window: a refilled bucket or a shorter window lets it pass. */
const PROBES = [0.3, 0.6, 0.9];

const PROBE_TRIES = 3;

/** Number of requests right after the first 429. A limiter that refuses only some of them lets others pass. */
const beyond = ({ most }: RateLimit): number => Math.min(32, Math.max(8, Math.ceil(most / 2)));

/** Requests on each side of a limit that are sent one at a time, if it may count late. */
const AROUND = 2;

/**
 * The paces of a burst. Before its end, and around the limit if `isPaused`, there are pauses.
 *
 * @param passed requests that may have been counted in the same window
 */
function pacesOf(limit: RateLimit, isPaused: boolean, passed: number): readonly [Pace, ...Pace[]] {
  const [most, withinMs, one] = [burstSize(limit) - 1, limit.windowMs / 4, { most: 1 }];
  if (!isPaused) return [{ most, withinMs }, one];
  const before = Math.max(1, limit.most + 1 - AROUND - passed);
  const around = Array.from({ length: 2 * AROUND - 1 }, () => one);
  return [
    { most: before, withinMs },
    ...around,
    { most: most - before - around.length, oneAtATime: true },
    one,
  ];
}

/**
 * Sends a burst to a limiter at rest, and probes the limited key before its window ends.
 *
 * @param isPaused whether to pause around the limit, so that a limiter that counts late is exact
 * @param whileLimited runs after the first 429; returns its requests that may have been counted
 */
export async function driveToLimit(
  context: Context,
  limit: RateLimit,
  supply: Supply,
  isPaused: boolean,
  whileLimited: () => Promise<readonly TimedRequest[]>,
) {
  const startedAt = context.now();
  const toLimit = (passed: number) => {
    const [pace, ...later] = pacesOf(limit, isPaused, passed);
    return stream(context, supply, pace, later, 2 * lateMs(limit));
  };
  const first = await toLimit(0);
  const history = [...first.history];
  const passedSince = (from: number) =>
    history.slice(from).filter(({ result }) => result === 'passed' || result === 'other').length;
  if (first.refusal !== undefined) {
    const atOnce = isPaused ? 1 : IN_FLIGHT_AT_FIRST;
    const until = startedAt + PROBES[0]! * limit.windowMs;
    for (let left = beyond(limit); left > 0 && context.now() < until; left -= atOnce) {
      const requests = Array.from({ length: Math.min(left, atOnce) }, supply.next);
      const replies = await context.burst(...requests);
      const sent = replies.map((reply, nth) => ({ request: requests[nth]!, reply }));
      history.push(...timedRequestsOf(sent, context.now()));
    }
    history.push(...(await whileLimited()));
    for (const part of PROBES) {
      await context.wait(Math.max(0, startedAt + part * limit.windowMs - context.now()));
      let probe: TimedRequest | undefined;
      // A lost probe shows nothing: send another.
      for (let tries = 0; tries < PROBE_TRIES && (probe?.result ?? 'lost') === 'lost'; tries++) {
        [probe] = (await stream(context, supply, { most: 1 })).history;
        if (probe !== undefined) history.push(probe);
      }
      if (probe?.result === 'passed') history.push(...(await toLimit(passedSince(first.sent))).history);
    }
  }
  const inFlight = isPaused ? 1 : Math.max(IN_FLIGHT_AT_FIRST, mostInFlight(history));
  return { first, burst: { startedAt, history, inFlight } };
}

/** Maximum number of requests in flight at the same time. */
function mostInFlight(history: readonly TimedRequest[]): number {
  return Math.max(
    0,
    ...history.map(
      ({ sentAt }, at) => 1 + history.slice(0, at).filter(({ receivedAt }) => receivedAt > sentAt).length,
    ),
  );
}
