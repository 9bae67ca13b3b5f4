import type { Measure, Sample, Samples } from './part.ts';

/**
 * Measures each entrant once a round. Every second round goes backwards, so that what gets slower or faster with time
 * favours nobody.
 */
export async function alternate(
  entrants: Readonly<Record<string, Measure>>,
  rounds: number,
  say: (text: string) => void,
): Promise<Samples> {
  const samples: Record<string, Sample[]> = Object.fromEntries(
    Object.keys(entrants).map((name) => [name, []]),
  );
  for (let round = 0; round < rounds; round += 1) {
    say(`round ${round + 1} of ${rounds}`);
    const order = Object.entries(entrants);
    if (round % 2 === 1) order.reverse();
    for (const [name, measure] of order) samples[name]!.push(await measure(round));
  }
  return samples;
}
