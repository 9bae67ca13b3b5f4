import type { Endpoint } from './endpoints.ts';
import type { Coverage } from './generated/types.ts';

/** What a run is expected to take, before its first request. Times are ms. */
export interface Plan {
  readonly requests: number;
  /** Waits for limiters and for --rate; what the target itself takes comes on top. */
  readonly durationMs: number;
  /** Counted requests of each endpoint, and what its stated limit makes of them. */
  readonly load: readonly {
    readonly endpoint: Endpoint;
    readonly counted: number;
    readonly keys: number;
    readonly limit?: { readonly most: number; readonly windowMs: number };
  }[];
  /** Rows that an endpoint gets at most, where that is fewer than were asked for. */
  readonly cutTo?: number;
  /** What makes for the cut. */
  readonly because?: '--max-duration' | '--max-requests';
  /** Requirements that not even one lookup fits for, by id. */
  readonly leftOut: readonly string[];
  /** Endpoints whose stated limit is not compared with the target's: its windows take too long. */
  readonly notCompared: readonly Endpoint[];
  /** What the run would wait for without bounds, where that is more. */
  readonly wholeMs?: number;
  /** What a whole run is going to cover. */
  readonly reached?: Reached;
}

/** A strength, and the combinations behind it. */
export interface Reached {
  readonly strength: number;
  readonly coverage: Pick<Coverage, 'pairs' | 'triples'>;
}

/** How far a run has come. Infinity stands for a bound that there is not. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  /** Id of the requirement at work. */
  readonly requirement: string;
  readonly requests: number;
  readonly elapsedMs: number;
  readonly maxRequests: number;
  readonly maxDurationMs: number;
}
