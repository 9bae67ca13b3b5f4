import { columns, printable } from './printable.ts';
import { duration, several } from './units.ts';

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
  /** How long it still waits for a rate limit, while it does. */
  readonly waitingMs?: number;
}

/** An id cut shorter than this says nothing; then the line goes without. */
const SHORTEST_ID = 12;

/** One line for a terminal of `width` columns, without a line break; the id gives way first. */
export function renderProgress(progress: Progress, width: number): string {
  const place = `[${progress.done}/${progress.total}]`;
  const rest = [
    several(progress.requests, 'request'),
    duration(progress.elapsedMs),
    ...(progress.waitingMs === undefined
      ? []
      : [`waiting ${Math.ceil(progress.waitingMs / 1000)} s for a rate limit`]),
  ].join('  ');
  const room = width - columns(`${place}   ${rest}`);
  const id = room < SHORTEST_ID ? '' : ` ${printable(progress.requirement, room)}`;
  return printable(`${place}${id}  ${rest}`, width);
}
