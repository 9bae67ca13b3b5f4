import { reachedWords, type Reached } from './strength.ts';
import { columns, count, duration, present, printable, several } from './text.ts';

/** How far a run has come. Infinity stands for a bound that there is not. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly requirement: string;
  readonly requests: number;
  readonly elapsedMs: number;
  readonly leftMs?: number;
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
  return present(
    (isBounded ? `${count(requests)} of ${several(maxRequests, 'request')}` : several(requests, 'request')) +
      rate,
    duration(elapsedMs) + (Number.isFinite(maxDurationMs) ? ` of ${duration(maxDurationMs)}` : ''),
    leftMs !== undefined && `about ${roughly(leftMs)} left`,
  ).join('  ');
}

/** Whole seconds up to two minutes, then minutes: it is an estimate. */
function roughly(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds <= 120 ? `${seconds} s` : `${count(Math.ceil(seconds / 60))} min`;
}

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
  /** Rows that an endpoint gets at most, where that is fewer than were asked for. */
  readonly cutTo?: number;
  readonly because?: string;
  /** Requirements that not even one input fits for, by id. */
  readonly leftOut: readonly string[];
  /** Endpoints whose stated limit is not compared with the target's. */
  readonly notCompared: readonly string[];
  /** What the run would wait for without bounds, where that is more. */
  readonly wholeMs?: number;
  /** What a whole run is going to cover. */
  readonly reached?: Reached;
}

/** The plan in a few lines, for people. */
export function renderPlan(plan: Plan): string {
  const { requests, durationMs, load, cutTo, because, leftOut, notCompared, wholeMs, reached } = plan;
  const waits =
    durationMs === 0 ? '' : `, about ${duration(durationMs)} of waiting beside what the target takes`;
  const lines = present(
    `plan: about ${several(requests, 'request')}${waits}`,
    ...load.map(({ endpoint, counted, keys, limit }) => {
      const at =
        limit === undefined
          ? 'no limit is stated; it is learned from the first 429'
          : `${count(limit.most)} pass in ${duration(limit.windowMs)}, one is kept back, ${several(keys, 'key')}`;
      return `  ${endpoint}: ${count(counted)} that count; ${at}`;
    }),
    reached && `  ${reachedWords(reached)}`,
    cutTo !== undefined &&
      because !== undefined &&
      `  to fit ${because}, an endpoint gets at most ${several(cutTo, 'row')}: every level comes first, then pairs, then triples; the limiters come last`,
    notCompared.length > 0 &&
      `  cut: the limits of ${notCompared.join(' and ')} are not compared, only that 429 comes`,
    leftOut.length > 0 && `  cut: there is no time for ${leftOut.join(', ')}`,
    wholeMs !== undefined &&
      `  all of it takes about ${duration(wholeMs)} of waiting: give more --max-duration or keys`,
  );
  return lines.map((line) => `${line}\n`).join('');
}
