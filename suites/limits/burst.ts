import type { Answer } from '../answer.ts';
import type { Context, Exchange, Pace } from '../scenario-context.ts';
import { IN_FLIGHT_AT_FIRST } from '../engine/context.ts';
import type { TimedRequest } from './history.ts';
import type { Supply } from './kinds.ts';
import { burstSize, type RateLimit } from './limit.ts';

/** Result of a stream of requests of one kind, up to the first 429. */
export type Stream = Awaited<ReturnType<typeof stream>>;

/** Whether a front end may have sent this status: the server may have counted the request or not. */
const isUncertain = (status: number) => status === 408 || status >= 500;

/** Sends new requests up to the first 429 or to `most` of them. Never retries. */
export async function stream(context: Context, { kind, next }: Supply, pace: Pace) {
  const startedAt = context.now();
  const sent = await context.stream(next, pace);
  const history = timedRequestsOf(sent, startedAt);
  const refused = sent.find(({ reply }) => reply.kind === 'answer' && reply.status === 429);
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

/**
 * Sends a burst to a limiter at rest, and probes the limited key before its window ends.
 *
 * @param whileLimited runs after the first 429; returns its requests that may have been counted
 */
export async function driveToLimit(
  context: Context,
  limit: RateLimit,
  supply: Supply,
  oneAtATime: boolean,
  whileLimited: () => Promise<readonly TimedRequest[]>,
) {
  const startedAt = context.now();
  const pace = {
    most: burstSize(limit),
    ...(oneAtATime ? { oneAtATime } : { withinMs: limit.windowMs / 4 }),
  };
  const first = await stream(context, supply, pace);
  const history = [...first.history];
  if (first.refusal !== undefined) {
    const atOnce = oneAtATime ? 1 : IN_FLIGHT_AT_FIRST;
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
      if (probe?.result === 'passed') history.push(...(await stream(context, supply, pace)).history);
    }
  }
  const inFlight = oneAtATime ? 1 : Math.max(IN_FLIGHT_AT_FIRST, mostInFlight(history));
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
