import type { Endpoint } from '../schemas/endpoints.ts';
import { manyStrangers } from './inputs/uuids.ts';
import type { Known } from './known.ts';
import { lookupOf } from './request.ts';
import type { Scenario } from './requirement.ts';
import { observing } from './scenario.ts';
import { observed, unjudged } from './verdict.ts';

/** Lookups of each kind: enough to see a coarse difference, few enough not to wake the limiter. */
const MOST_PAIRS = 25;

/** Whether answer times tell a foreign id from an unknown one. */
export function timing(
  endpoint: Endpoint,
  {
    lacks,
    hidden,
  }: {
    readonly lacks: (known: Known) => string | undefined;
    readonly hidden: (known: Known) => readonly string[];
  },
): Scenario {
  return observing({
    id: `foreign-ib/${endpoint}/timing`,
    clause: 'What the service does: cannot look up users outside the IB',
    title: 'Whether answer times tell a foreign id from an unknown one',
    lacks,
    run: async ({ send, cases }, known) => {
      const pairs = Math.min(MOST_PAIRS, Math.max(5, Math.floor(cases / 4)));
      const ids = hidden(known);
      const unknown = manyStrangers(known, pairs);
      // Neither kind comes first throughout: two machines that answer in turn are no difference.
      const isForeignFirst = (nth: number) => nth % 2 === 0;
      const interleaved = unknown.flatMap((id, nth) => {
        const foreignId = ids[nth % ids.length]!;
        return isForeignFirst(nth) ? [foreignId, id] : [id, foreignId];
      });
      const replies = await send(...interleaved.map((id) => lookupOf(endpoint, id)));
      const timesOf = (isForeign: boolean) =>
        replies.flatMap((reply, at) => {
          const wasForeign = isForeignFirst(Math.floor(at / 2)) === (at % 2 === 0);
          return reply.kind === 'answer' && wasForeign === isForeign ? [reply.tookMs] : [];
        });
      const [foreign, strange] = [timesOf(true), timesOf(false)];
      if (foreign.length < 5 || strange.length < 5) {
        const trouble = replies.find((reply) => reply.kind === 'trouble');
        return unjudged(trouble?.code ?? 'network', trouble?.words ?? 'too few lookups were answered');
      }
      const result = rankTest(foreign, strange);
      const figures = `effect ${result.effect.toFixed(2)} (0.50 is none), p ${result.p.toFixed(3)}, ${foreign.length} against ${strange.length} lookups`;
      const words =
        result.p < 0.001
          ? `foreign and unknown ids differ in time: ${figures}`
          : `no difference found: ${figures}; one of ${result.detectable.toFixed(2)} or more would have shown`;
      return observed(words, { ...result });
    },
  });
}

/**
 * The Mann–Whitney test of two samples, by its normal approximation with correction for ties.
 *
 * @returns the chance that a value of the first sample is above one of the second (0.5: no effect),
 *   the two-sided p, and the least effect that samples of this size show four times in five
 */
export function rankTest(
  first: readonly number[],
  second: readonly number[],
): { effect: number; p: number; detectable: number } {
  const [n, m] = [first.length, second.length];
  const sorted = [
    ...first.map((value) => ({ value, isFirst: true })),
    ...second.map((value) => ({ value, isFirst: false })),
  ].toSorted((a, b) => a.value - b.value);
  let rankSum = 0;
  let ties = 0;
  for (let start = 0; start < sorted.length;) {
    let end = start;
    while (end < sorted.length && sorted[end]!.value === sorted[start]!.value) end++;
    const size = end - start;
    ties += size ** 3 - size;
    rankSum += sorted.slice(start, end).filter(({ isFirst }) => isFirst).length * ((start + 1 + end) / 2);
    start = end;
  }
  const u = rankSum - (n * (n + 1)) / 2;
  const total = n + m;
  const deviation = Math.sqrt(((n * m) / 12) * (total + 1 - ties / (total * (total - 1))));
  const z = deviation === 0 ? 0 : (u - (n * m) / 2) / deviation;
  return {
    effect: u / (n * m),
    p: Math.min(1, 2 * (1 - normal(Math.abs(z)))),
    detectable: Math.min(1, 0.5 + (1.96 + 0.84) * Math.sqrt((total + 1) / (12 * n * m))),
  };
}

/** Distribution function of the normal distribution (Abramowitz and Stegun 26.2.17). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const tail = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429].reduceRight(
    (sum, factor) => (sum + factor) * t,
    0,
  );
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * tail;
}
