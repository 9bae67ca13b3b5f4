import { columns, printable } from './printable.ts';
import { count, duration, several } from './units.ts';

/** How far a run has come. */
export interface Progress {
  /** Requirements that are done. */
  readonly done: number;
  /** Requirements of the run. */
  readonly total: number;
  /** Id of the one that is being checked. */
  readonly requirement: string;
  /** Requests sent so far. */
  readonly requests: number;
  readonly elapsedMs: number;
  /** What is left to do, about. */
  readonly leftMs?: number;
  /** Bounds of the run; Infinity: none. */
  readonly maxRequests: number;
  readonly maxDurationMs: number;
}

/** An id cut shorter than this says nothing; then the line goes without. */
const SHORTEST_ID = 12;

/** One line for a terminal of `width` columns, without a line break; the id gives way first. */
export function renderProgress(progress: Progress, width: number): string {
  const place = `[${progress.done}/${progress.total}]`;
  const rest = [
    Number.isFinite(progress.maxRequests)
      ? `${count(progress.requests)} of ${several(progress.maxRequests, 'request')}`
      : several(progress.requests, 'request'),
    Number.isFinite(progress.maxDurationMs)
      ? `${duration(progress.elapsedMs)} of ${duration(progress.maxDurationMs)}`
      : duration(progress.elapsedMs),
    ...(progress.leftMs === undefined ? [] : [`about ${Math.ceil(progress.leftMs / 1000)} s left`]),
  ].join('  ');
  const room = width - columns(`${place}   ${rest}`);
  const id = room < SHORTEST_ID ? '' : ` ${printable(progress.requirement, room)}`;
  return printable(`${place}${id}  ${rest}`, width);
}
