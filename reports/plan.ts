import { count, duration, several } from './text.ts';

/** What a run is expected to take. Times are ms. */
export interface Plan {
  readonly requests: number;
  /** Waits alone; what the target takes to answer comes on top. */
  readonly durationMs: number;
  readonly load: readonly {
    readonly endpoint: string;
    /** Requests that count at its limiter. */
    readonly counted: number;
    readonly keys: number;
    readonly limit?: { readonly most: number; readonly windowMs: number };
  }[];
  /** Inputs that a requirement gets at most, where that is fewer than were asked for. */
  readonly cutTo?: number;
  readonly because?: string;
}

/** The plan in a few lines, for people. */
export function renderPlan({ requests, durationMs, load, cutTo, because }: Plan): string {
  const waits =
    durationMs === 0 ? '' : `, about ${duration(durationMs)} of waiting beside what the target takes`;
  const lines = [
    `plan: about ${several(requests, 'request')}${waits}`,
    ...load.map(({ endpoint, counted, keys, limit }) => {
      const at =
        limit === undefined
          ? 'no limit is stated; it is learned from the first 429'
          : `${count(limit.most)} pass in ${duration(limit.windowMs)}, one is kept back, ${several(keys, 'key')}`;
      return `  ${endpoint}: ${count(counted)} that count; ${at}`;
    }),
    ...(cutTo === undefined || because === undefined
      ? []
      : [
          `  to fit ${because}, a requirement gets ${cutTo === 1 ? 'one input' : `at most ${cutTo} inputs`}: one of everything comes first, then depth; the limiters come last`,
        ]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
