import type { Sighting } from './history.ts';

/**
 * Who is to blame where so many requests took longer than they may. Requests of a burst go out together,
 * however slow the target is; apart from each other they go only where they are held back, by --rate.
 *
 * @param history requests as they were sent
 * @param count of requests that have to be answered within so many ms
 */
export function slowness(history: readonly Sighting[], count: number, withinMs: number): string {
  return gapOf(history) * count < withinMs
    ? 'the target was too slow'
    : `--rate let them out too slowly: leave it out, or let more than ${Math.ceil((count * 1000) / withinMs)} a second go`;
}

/** The median time between one request and the next, in ms. */
function gapOf(history: readonly Sighting[]): number {
  const sent = history.map(({ sentAt }) => sentAt).toSorted((a, b) => a - b);
  const gaps = sent.slice(1).map((at, nth) => at - sent[nth]!);
  return gaps.toSorted((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0;
}
