import type { Answer } from '../answer.ts';
import type { Pace } from '../requirement.ts';

/** Under way at the same time at the beginning of a stream, before the target's latency is known. */
export const IN_FLIGHT_AT_FIRST = 4;

/** More than so many requests in flight are never needed. */
export const MOST_IN_FLIGHT = 256;

/**
 * Requests of a stream that may be under way at the same time: as many as the pace needs at the latency of
 * the answers so far.
 *
 * @param bound that the user set
 */
export function inFlightOf(
  { most, withinMs, oneAtATime }: Pace,
  answers: readonly Pick<Answer, 'sentAt' | 'receivedAt'>[],
  bound = MOST_IN_FLIGHT,
): number {
  if (oneAtATime === true) return 1;
  const latencyMs =
    answers.reduce((sum, { sentAt, receivedAt }) => sum + receivedAt - sentAt, 0) /
    Math.max(1, answers.length);
  const needed = withinMs === undefined ? IN_FLIGHT_AT_FIRST : Math.ceil((most * latencyMs) / withinMs);
  return Math.min(bound, MOST_IN_FLIGHT, Math.max(IN_FLIGHT_AT_FIRST, needed));
}
