import type { EndpointTraffic } from '../../schemas/generated/types.ts';

/** Buckets per doubling: the bounds of one are 9 % apart, so its middle is off by 5 % at most. */
const PER_DOUBLING = 8;
/** What is faster than 2^-4 ms stands in the first bucket, what is slower than 2^20 ms (17 min) in the last. */
const FIRST = -4 * PER_DOUBLING;
const LAST = 20 * PER_DOUBLING - 1;

export type LatencyFigures = Omit<EndpointTraffic, 'endpoint'>;

/** Latencies in ms, counted in buckets of fixed bounds. */
export interface Latencies {
  readonly add: (ms: number) => void;
  /** Undefined where there were none. */
  readonly figures: () => LatencyFigures | undefined;
}

export function createLatencies(): Latencies {
  const buckets: number[] = Array.from({ length: LAST - FIRST + 1 }, () => 0);
  let answers = 0;
  let maxMs = 0;
  /** The latency that so great a share of the answers did not exceed. */
  const quantile = (share: number): number => {
    let left = Math.ceil(share * answers);
    const at = buckets.findIndex((number) => (left -= number) <= 0);
    return rounded(Math.min(maxMs, boundOf(at + 0.5)));
  };
  return {
    add: (ms) => {
      answers++;
      maxMs = Math.max(maxMs, ms);
      buckets[indexOf(ms)]!++;
    },
    figures: () =>
      answers === 0
        ? undefined
        : {
            answers,
            medianMs: quantile(0.5),
            p95Ms: quantile(0.95),
            p99Ms: quantile(0.99),
            maxMs: rounded(maxMs),
            histogram: buckets.flatMap((number, at) =>
              number === 0
                ? []
                : [{ fromMs: rounded(boundOf(at)), toMs: rounded(boundOf(at + 1)), answers: number }],
            ),
          },
  };
}

const boundOf = (index: number) => 2 ** ((index + FIRST) / PER_DOUBLING);

function indexOf(ms: number): number {
  const index = Math.floor(Math.log2(Math.max(ms, 0)) * PER_DOUBLING);
  return Math.min(Math.max(index, FIRST), LAST) - FIRST;
}

/** To four digits: more would be noise. */
const rounded = (ms: number) => Number(ms.toPrecision(4));
