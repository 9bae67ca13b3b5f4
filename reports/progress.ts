import { columns, count, duration, printable, several } from './text.ts';

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
  /** Estimate of what is left. */
  readonly leftMs?: number;
  /** Bounds of the run; Infinity: none. */
  readonly maxRequests: number;
  readonly maxDurationMs: number;
}

/** An id cut shorter than this says nothing; then the line goes without. */
const MIN_ID = 12;
/** Before this, in ms, the rate means nothing. */
const TOO_EARLY_MS = 1000;

/** One line for a terminal of `width` columns, without a line break. The id is cut first, then the rate. */
export function renderProgress(progress: Progress, width: number): string {
  const { requests, elapsedMs, requirement, done, total } = progress;
  const place = `[${done}/${total}]`;
  const rate = elapsedMs < TOO_EARLY_MS ? '' : `, ${count(Math.round((requests * 1000) / elapsedMs))}/s`;
  const withRate = figuresOf(progress, rate);
  const rest = columns(`${place}  ${withRate}`) <= width ? withRate : figuresOf(progress, '');
  const room = width - columns(`${place}   ${rest}`);
  const id = room < MIN_ID ? '' : ` ${printable(requirement, room)}`;
  return printable(`${place}${id}  ${rest}`, width);
}

function figuresOf(progress: Progress, rate: string): string {
  const { requests, maxRequests, elapsedMs, maxDurationMs, leftMs } = progress;
  const isBounded = Number.isFinite(maxRequests);
  return [
    (isBounded ? `${count(requests)} of ${several(maxRequests, 'request')}` : several(requests, 'request')) +
      rate,
    duration(elapsedMs) + (Number.isFinite(maxDurationMs) ? ` of ${duration(maxDurationMs)}` : ''),
    ...(leftMs === undefined ? [] : [`about ${roughly(leftMs)} left`]),
  ].join('  ');
}

/** Whole seconds up to two minutes, then minutes: it is an estimate. */
function roughly(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds <= 120 ? `${seconds} s` : `${count(Math.ceil(seconds / 60))} min`;
}
