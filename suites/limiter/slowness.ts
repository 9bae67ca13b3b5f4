import { MAX_IN_FLIGHT } from '../engine/context.ts';
import type { TimedRequest } from './history.ts';

/**
 * Explains why `count` requests took longer than `withinMs`, and what to change.
 *
 * @param history requests in the order of sending
 */
export function slowness(history: readonly TimedRequest[], count: number, withinMs: number): string {
  const latencyMs = median(
    history.flatMap(({ sentAt, receivedAt }) => (receivedAt === Infinity ? [] : [receivedAt - sentAt])),
  );
  const inFlight = Math.ceil((count * latencyMs) / withinMs);
  if (inFlight > MAX_IN_FLIGHT) return 'the target was too slow';
  const sent = history.map(({ sentAt }) => sentAt).toSorted((a, b) => a - b);
  const gapMs = median(sent.slice(1).map((at, nth) => at - sent[nth]!));
  const perSecond = Math.ceil((count * 1000) / withinMs);
  return gapMs * count < withinMs
    ? 'the target was too slow'
    : `--rate or --concurrency is too low: omit both, or allow more than ${perSecond} requests per second and ${Math.max(2, inFlight)} in flight`;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
