import type { Endpoint } from './endpoints.ts';

/** Bounds that are enough: `--max-duration` in ms, 0 if nothing has to wait, and `--max-requests`. */
export interface Need {
  readonly reaches: 'strength 1' | 'strength 2' | 'everything';
  readonly durationMs: number;
  readonly requests: number;
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
  /** Ids of the requirements that have failed so far. */
  readonly failing: readonly string[];
}

/** A wait for a limiter. */
export interface Waiting {
  readonly endpoint?: Endpoint | undefined;
  readonly waitMs: number;
  /** Such as `Retry-After 297 s`. */
  readonly why: string;
}
