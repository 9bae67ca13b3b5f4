import type { Endpoint } from './endpoints.ts';
import type { Coverage } from './generated/types.ts';

/** What a run will do, before its first request or from some request on. Times are in ms, without the response times of the target. */
export interface Plan extends Forecast {
  /** How many of the requests were sent before a new plan. */
  readonly sent?: number;
  /** Counted requests that are still to be sent, and the limit of each endpoint. */
  readonly load: readonly {
    readonly endpoint: Endpoint;
    readonly counted: number;
    readonly limit?: { readonly most: number; readonly windowMs: number };
    /** How long the key stays limited after the run. */
    readonly limitedMs: number;
  }[];
  /** Number of active keys of the partner. */
  readonly keys: number;
  /** Ids of requirements without time for a single lookup. */
  readonly leftOut: readonly string[];
  /** Endpoints whose stated limit is not compared with the target's, because its windows take too long. */
  readonly notCompared: readonly Endpoint[];
  /** The bound that cuts the run. */
  readonly because?: '--max-duration' | '--max-requests';
  /** What other durations and numbers of keys give. Without a limit or --rate, there are none. */
  readonly others: readonly Other[];
  /** What each higher strength needs, and last everything. */
  readonly needs: readonly Need[];
  readonly wholeMs: number;
  readonly coverage: Pick<Coverage, 'pairs' | 'triples'>;
}

/** Bounds that are enough: `--max-duration` in ms, 0 if nothing has to wait, and `--max-requests`. */
export interface Need {
  readonly reaches: 'strength 1' | 'strength 2' | 'everything';
  readonly durationMs: number;
  readonly requests: number;
}

/** How far a run gets. */
export interface Forecast {
  readonly requests: number;
  readonly durationMs: number;
  readonly strength: number;
}

/** A run with another bound or other keys. Without `maxDurationMs`, it has no bound. */
export interface Other extends Forecast {
  readonly maxDurationMs?: number;
  readonly keys: number;
}

/** A strength, and the combinations behind it. */
export interface Reached {
  readonly strength: number;
  readonly coverage: Pick<Coverage, 'pairs' | 'triples'>;
}

/** Progress of a run. Infinity means no limit. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  /** What the run does, such as the id of a requirement. */
  readonly doing: string;
  readonly requests: number;
  readonly elapsedMs: number;
  readonly maxRequests: number;
  readonly maxDurationMs: number;
}

/** A wait for a limiter. */
export interface Waiting {
  readonly endpoint?: Endpoint | undefined;
  readonly waitMs: number;
  /** Such as `Retry-After 297 s`. */
  readonly why: string;
}
