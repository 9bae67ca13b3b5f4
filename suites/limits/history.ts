import type { Reply } from '../answer.ts';
import { describeMs, type RateLimit } from './limit.ts';

/** A counted request. The server counted it at some time from `sentAt` to `receivedAt` (ms of the engine's clock). */
export interface TimedRequest {
  readonly sentAt: number;
  /** Infinity if it is lost. */
  readonly receivedAt: number;
  /**
   * `refused`: 429. `lost`: no answer, or one that does not show if the server counted it. `other`: a request of
   * another kind, which may count.
   */
  readonly result: 'passed' | 'refused' | 'lost' | 'other';
  /** What came instead: a status such as `503`, or a network error. */
  readonly words?: string;
}

/** Counted requests sent to a limiter at rest, in the order of sending. */
export interface Burst {
  /** In ms of the engine's clock. No request was sent for two windows before it. */
  readonly startedAt: number;
  readonly history: readonly TimedRequest[];
  /** Whether there were pauses around the limit. */
  readonly isPaused: boolean;
}

/** Whether a front end may have sent this status: the server may have counted the request or not. */
const isUncertain = (status: number) => status === 408 || status >= 500;

/** The requests that were sent, in their order, from a time (ms) on. */
export function historyOf(replies: readonly Reply[], startedAt: number): readonly TimedRequest[] {
  let last = startedAt;
  return replies.flatMap((reply): readonly TimedRequest[] => {
    if (reply.kind === 'trouble')
      return reply.code === 'network' || reply.code === 'timeout'
        ? [{ sentAt: last, receivedAt: Number.POSITIVE_INFINITY, result: 'lost', words: reply.words }]
        : [];
    const { sentAt, receivedAt, status } = reply;
    last = sentAt;
    if (isUncertain(status)) return [{ sentAt, receivedAt, result: 'lost', words: `${status}` }];
    return [{ sentAt, receivedAt, result: status === 429 ? 'refused' : 'passed' }];
  });
}

/** The requests of other kinds that may have been counted. */
export const othersIn = (replies: readonly Reply[]): readonly TimedRequest[] =>
  replies.flatMap((reply) =>
    reply.kind === 'answer' && reply.status !== 429
      ? [{ sentAt: reply.sentAt, receivedAt: reply.receivedAt, result: 'other' }]
      : [],
  );

/** The most requests at the same time, at least one, if each lasts so many ms longer than until its answer. */
export function mostAtOnce(requests: readonly TimedRequest[], laterMs = 0): number {
  const starts = Float64Array.from(requests, ({ sentAt }) => sentAt).toSorted();
  const ends = Float64Array.from(requests, ({ receivedAt }) => receivedAt + laterMs).toSorted();
  let [most, ended] = [1, 0];
  for (const [nth, start] of starts.entries()) {
    while (ends[ended]! <= start) ended++;
    most = Math.max(most, nth + 1 - ended);
  }
  return most;
}

/** Tolerance for clock rounding, in ms. */
export const TOLERANCE_MS = 5;

/** Describes bursts in one line. */
export const describeBursts = (bursts: readonly Burst[], { windowMs }: RateLimit) =>
  bursts.map((burst) => describeBurst(burst, windowMs)).join('. Next burst after a pause: ');

/** `60 passed within 0.05 s, then 429; after 0.9 s: 4 passed within 0.01 s (at most 4 in flight)` */
function describeBurst({ history, startedAt, isPaused }: Burst, windowMs: number): string {
  const parts: TimedRequest[][] = [];
  for (const request of history.toSorted((a, b) => a.sentAt - b.sentAt)) {
    const last = parts.at(-1)?.at(-1);
    if (last === undefined || request.sentAt > last.sentAt + windowMs / 5) parts.push([request]);
    else parts.at(-1)!.push(request);
  }
  const words = parts.map((part, at) => {
    const passed = part.filter(({ result }) => result === 'passed');
    const other = part.find(({ result }) => result !== 'passed');
    const end = other === undefined ? '' : `, then ${other.words ?? '429'}`;
    const took = Math.max(startedAt, ...passed.map(({ receivedAt }) => receivedAt)) - part[0]!.sentAt;
    const what =
      passed.length === 0
        ? (other?.words ?? '429')
        : `${passed.length} passed within ${describeMs(took)}${end}`;
    return at === 0 ? what : `after ${describeMs(part[0]!.sentAt - startedAt)}: ${what}`;
  });
  const passes = history.filter(({ result }) => result === 'passed');
  return `${words.join('; ')} (${isPaused ? 'with pauses at the limit' : `at most ${mostAtOnce(passes)} in flight`})`;
}
