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

/** Before this, in ms, nobody can tell how fast it goes. */
const TOO_EARLY = 1000;

/** One line for a terminal of `width` columns, without a line break; the id gives way first, then the pace. */
export function renderProgress(progress: Progress, width: number): string {
  const place = `[${progress.done}/${progress.total}]`;
  const wide = figuresOf(progress, paceOf(progress));
  const rest = columns(`${place}  ${wide}`) <= width ? wide : figuresOf(progress, '');
  const room = width - columns(`${place}   ${rest}`);
  const id = room < SHORTEST_ID ? '' : ` ${printable(progress.requirement, room)}`;
  return printable(`${place}${id}  ${rest}`, width);
}

function figuresOf(progress: Progress, pace: string): string {
  const { requests, maxRequests, elapsedMs, maxDurationMs, leftMs } = progress;
  const sent = several(Number.isFinite(maxRequests) ? maxRequests : requests, 'request');
  return [
    (Number.isFinite(maxRequests) ? `${count(requests)} of ${sent}` : sent) + pace,
    duration(elapsedMs) + (Number.isFinite(maxDurationMs) ? ` of ${duration(maxDurationMs)}` : ''),
    ...(leftMs === undefined ? [] : [`about ${roughly(leftMs)} left`]),
  ].join('  ');
}

/** Requests a second, as far as can be told. */
function paceOf({ requests, elapsedMs }: Progress): string {
  return elapsedMs < TOO_EARLY ? '' : `, ${count(Math.round((requests * 1000) / elapsedMs))}/s`;
}

/** Whole seconds up to two minutes, then minutes: it is a guess. */
function roughly(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds <= 120 ? `${seconds} s` : `${count(Math.ceil(seconds / 60))} min`;
}
