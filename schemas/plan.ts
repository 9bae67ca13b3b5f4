import type { Endpoint } from './endpoints.ts';
import type { Coverage } from './generated/types.ts';

/** Estimate of a run before its first request. Times are in ms. */
export interface Plan {
  readonly requests: number;
  /** Waits for limiters and --rate, without the response times of the target. */
  readonly durationMs: number;
  /** Counted requests and the stated limit of each endpoint. */
  readonly load: readonly {
    readonly endpoint: Endpoint;
    readonly counted: number;
    readonly keys: number;
    readonly limit?: { readonly most: number; readonly windowMs: number };
  }[];
  /** Maximum number of cases per endpoint, if it is lower than `--cases`. */
  readonly cutTo?: number;
  /** The reason for `cutTo`. */
  readonly because?: '--max-duration' | '--max-requests';
  /** Ids of requirements without time for a single lookup. */
  readonly leftOut: readonly string[];
  /** Endpoints whose stated limit is not compared with the target's, because its windows take too long. */
  readonly notCompared: readonly Endpoint[];
  /** Waits of the run without bounds, if they are longer. */
  readonly wholeMs?: number;
  /** What a complete run will cover. */
  readonly reached?: Reached;
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
  /** Id of the current requirement. */
  readonly requirement: string;
  readonly requests: number;
  readonly elapsedMs: number;
  readonly maxRequests: number;
  readonly maxDurationMs: number;
}
