import type { Answer } from '../answer.ts';
import { IN_FLIGHT_AT_FIRST } from '../engine/context.ts';
import type { Context, Exchange, Pace } from '../scenario-context.ts';
import { historyOf, type Burst, type TimedRequest } from './history.ts';
import type { Supply } from './kinds.ts';
import { burstSize, lateMs, type RateLimit } from './limit.ts';

/** Result of a stream of requests of one kind, up to the first 429. */
export type Stream = Awaited<ReturnType<typeof stream>>;

export type RefusedStream = Stream & { readonly refusal: NonNullable<Stream['refusal']> };

export const hasRefusal = (one: Stream): one is RefusedStream => one.refusal !== undefined;

const isRefused = ({ reply }: Exchange) => reply.kind === 'answer' && reply.status === 429;

/** Sends new requests up to the first 429, at each pace in turn, with pauses (ms) between them. Never retries. */
export async function stream(context: Context, { kind, next }: Supply, paces: readonly Pace[], pauseMs = 0) {
  const startedAt = context.now();
  const sent: Exchange[] = [];
  for (const [nth, pace] of paces.entries()) {
    if (sent.some(isRefused) || sent.at(-1)?.reply.kind === 'trouble') break;
    if (nth > 0) await context.wait(pauseMs);
    sent.push(...(await context.stream(next, pace)));
  }
  const replies = sent.map(({ reply }) => reply);
  const history = historyOf(replies, startedAt);
  const refused = sent.find(isRefused);
  return {
    kind,
    sent: sent.length,
    /** Answers other than 429 that show that a limiter let the request pass. */
    passed: history.filter(({ result }) => result === 'passed').length,
    elapsedMs: context.now() - startedAt,
    history,
    refusal: refused && { request: refused.request, reply: refused.reply as Answer },
    /** The first request that got no answer or was not sent. */
    trouble: replies.find((reply) => reply.kind === 'trouble'),
  };
}

/** Maximum number of requests of one kind to find a limit that is not stated. */
export const MAX_WITHOUT_LIMIT = 1000;

/** A limited key is probed at these fractions of its window: a refilled bucket or a shorter window lets it pass. */
const PROBES = [0.3, 0.6, 0.9];

/** Number of requests right after the first 429. A limiter that refuses only some of them lets others pass. */
const beyond = ({ most }: RateLimit): number => Math.min(32, Math.max(8, Math.ceil(most / 2)));

/** Requests on each side of a limit that are sent one at a time, if it may count late. */
const AROUND = 2;

/**
 * The paces of a burst. Before its end, and around the limit if `isPaused`, there are pauses.
 *
 * @param passed requests that may have been counted in the same window
 */
function pacesOf(limit: RateLimit | undefined, isPaused: boolean, passed: number): readonly Pace[] {
  if (limit === undefined) return [{ most: MAX_WITHOUT_LIMIT, withinMs: 1000 }];
  const [most, withinMs, one] = [burstSize(limit) - 1, limit.windowMs / 4, { most: 1 }];
  if (!isPaused) return [{ most, withinMs }, one];
  const before = Math.max(1, limit.most + 1 - AROUND - passed);
  const around = Array.from({ length: 2 * AROUND - 1 }, () => one);
  const after = { most: most - before - around.length, oneAtATime: true };
  return [{ most: before, withinMs }, ...around, after, one];
}

/**
 * Sends a burst to a limiter at rest. Probes the limited key before the window of a stated limit ends.
 *
 * @param isPaused whether to pause around the limit, so that a limiter that counts late is exact
 * @param whileLimited runs after the first 429; returns its requests that may have been counted
 */
export async function driveToLimit(
  context: Context,
  limit: RateLimit | undefined,
  supply: Supply,
  isPaused: boolean,
  whileLimited: () => Promise<readonly TimedRequest[]>,
): Promise<{ readonly first: Stream; readonly burst: Burst }> {
  const startedAt = context.now();
  const pauseMs = limit === undefined ? 0 : 2 * lateMs(limit);
  const send = (paces: readonly Pace[]) => stream(context, supply, paces, pauseMs);
  const first = await send(pacesOf(limit, isPaused, 0));
  const history = [...first.history];
  if (!hasRefusal(first)) return { first, burst: { startedAt, history, isPaused } };
  if (limit !== undefined) {
    const [atOnce, until] = [isPaused ? 1 : IN_FLIGHT_AT_FIRST, startedAt + PROBES[0]! * limit.windowMs];
    for (let left = beyond(limit); left > 0 && context.now() < until; left -= atOnce) {
      const requests = Array.from({ length: Math.min(left, atOnce) }, supply.next);
      history.push(...historyOf(await context.burst(...requests), context.now()));
    }
  }
  history.push(...(await whileLimited()));
  for (const part of limit === undefined ? [] : PROBES) {
    await context.wait(Math.max(0, startedAt + part * limit!.windowMs - context.now()));
    const probe = await send([{ most: 1 }]);
    history.push(...probe.history);
    if (probe.passed === 0) continue;
    const since = history.slice(first.history.length);
    const passed = since.filter(({ result }) => result === 'passed' || result === 'other').length;
    history.push(...(await send(pacesOf(limit, isPaused, passed))).history);
  }
  return { first, burst: { startedAt, history, isPaused } };
}
