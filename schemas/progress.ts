import type { Endpoint } from './endpoints.ts';
import type { Loss, WaitReason } from './generated/types.ts';

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
  /** How long the run takes in all, as far as it can be told by now. */
  readonly expectedMs?: number;
  readonly maxRequests: number;
  readonly maxDurationMs: number;
  /** Ids of the requirements that have failed so far. */
  readonly failing: readonly string[];
}

/** A wait. */
export interface Waiting {
  readonly endpoint?: Endpoint | undefined;
  readonly waitMs: number;
  /** Such as `429, Retry-After 297 s`. */
  readonly why: string;
}

/** Why a run waits, in words. */
export const waitWords = {
  'stated-limit': 'stated limit',
  'retry-after': '429 with Retry-After',
  'back-off': '429 without a usable Retry-After',
  doubled: '429 again, so pauses doubled',
  rest: 'a rest before the limit is tried',
  change: 'a change of data',
  repeat: 'a pause before lookups are repeated',
  'lost-target': 'the target did not answer as before',
} as const satisfies Record<WaitReason, string>;

/** `from 12.4 s on (request 242), user-status no longer gave a right answer: 502 (Bad Gateway)` */
export function lossWords({ endpoint, keys, answer, fromRequest, fromSeconds, seconds }: Loss): string {
  const until = seconds === undefined ? 'on' : `to ${(fromSeconds + seconds).toFixed(1)} s`;
  const who = keys === undefined ? '' : ` to ${keys.join(' and ')}`;
  return `from ${fromSeconds.toFixed(1)} s ${until} (request ${fromRequest}), ${endpoint ?? 'the target'} no longer gave a right answer${who}: ${answer}`;
}
