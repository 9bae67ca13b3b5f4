import type { Progress, Waiting } from '../schemas/progress.ts';
import { defined } from '../schemas/values.ts';
import type { RunOptions } from '../suites/index.ts';
import type { CliContext } from './cli-context.ts';
import { columns, count, duration, printable, plural } from '../reports/text.ts';

/** Returns to the start of the line of a terminal, and clears it. */
export const CLEAR_LINE = '\r\u001b[K';

/** In ms: how often a terminal changes, and when a log says that the run goes on. Ticks come a few ms late. */
const [FRAME_MS, SECOND_MS, LOG_MS] = [50, 1000, 9500];

/** Shorter waits are not mentioned, in ms. */
const SHORT_MS = 2000;

/** A wait, and its end in ms of `performance.now()`. */
interface Shown {
  readonly waiting: Waiting;
  readonly endsAt: number;
}

type Every = (work: () => void, ms: number) => { unref: () => void };

/**
 * Shows what a run does while it lasts: on a terminal one line that changes, in a log a line every 10 s.
 * Both name each requirement that fails, at once.
 *
 * @param every calls a function again and again, such as `setInterval`
 */
export function createDisplay(
  { isTerminal, writeError, terminal }: Pick<CliContext, 'isTerminal' | 'writeError' | 'terminal'>,
  every: Every,
  now: () => number = () => performance.now(),
) {
  const waits = new Map<Waiting['endpoint'], Shown>();
  const loggedAt = new Map<Waiting['endpoint'], number>();
  let last = isTerminal ? Number.NEGATIVE_INFINITY : now();
  const named = new Set<string>();
  let timer: ReturnType<Every> | undefined;
  let progress: Progress | undefined;
  let progressAt = 0;
  const show = (text: string) => writeError(isTerminal ? `${CLEAR_LINE}${text}` : `${text}\n`);
  const print = (text: string) => writeError(`${isTerminal ? CLEAR_LINE : ''}${text}`);
  /** Names each requirement once, when it has failed: the reports come after all waits. */
  const nameNew = (ids: readonly string[]) => {
    const fresh = ids.filter((id) => !named.has(id));
    for (const id of fresh) named.add(id);
    if (fresh.length > 0) print(fresh.map((id) => renderFailed(id, terminal.width)).join(''));
  };
  const rest = ({ waiting, endsAt }: Shown): Waiting => ({ ...waiting, waitMs: endsAt - now() });
  /** Shows the waits that are not over, or else, in a log, the progress. A log has a line every 10 s. */
  const tick = () => {
    const at = now();
    for (const [name, { endsAt }] of waits) if (endsAt <= at) waits.delete(name);
    const left = [...waits.values()];
    const { expectedMs, elapsedMs = 0 } = progress ?? {};
    const share = shareOf({ ...defined({ expectedMs }), elapsedMs: elapsedMs + at - progressAt });
    const told = share.length > 0 ? `${share.join(', ')}: ` : '';
    if (isTerminal && left.length > 0)
      show((told + left.map((one) => renderWaiting(rest(one))).join('; ')).slice(0, terminal.width));
    if (isTerminal) return;
    if (left.length === 0 && progress !== undefined && at - last >= LOG_MS) {
      last = at;
      show(renderProgress(progress, terminal.width));
    }
    for (const one of left) {
      const { endpoint } = one.waiting;
      if (at - (loggedAt.get(endpoint) ?? -LOG_MS) < LOG_MS) continue;
      loggedAt.set(endpoint, at);
      last = at;
      show(told + renderWaiting(rest(one)));
    }
  };
  const start = () => {
    timer ??= every(tick, SECOND_MS);
    timer.unref();
  };
  return {
    onRemark: (words) => print(`${words}\n`),
    onWait: (waiting, ids) => {
      const before = waits.get(waiting.endpoint);
      nameNew(ids);
      if (waiting.waitMs < SHORT_MS) return;
      const endsAt = now() + waiting.waitMs;
      // Several requests may wait for the same limiter.
      if (before !== undefined && Math.abs(endsAt - before.endsAt) < SECOND_MS) return;
      waits.set(waiting.endpoint, { waiting, endsAt });
      start();
      tick();
    },
    onProgress: (state) => {
      progress = state;
      progressAt = now();
      nameNew(state.failing);
      if (!isTerminal) return start();
      if (now() - last < FRAME_MS || waits.size > 0) return;
      last = now();
      show(renderProgress(state, terminal.width));
    },
    /** Ends the display. */
    close: () => {
      if (timer !== undefined) clearInterval(timer as NodeJS.Timeout);
      if (isTerminal) writeError(CLEAR_LINE);
    },
  } satisfies Pick<RunOptions, 'onRemark' | 'onWait' | 'onProgress'> & {
    readonly close: () => void;
  };
}

/** Minimum columns of an id. With less space, the line has no id. */
const MIN_ID = 12;
/** Before this time, in ms, no rate is shown. */
const TOO_EARLY_MS = 1000;

/**
 * Renders one line of `width` columns, without a line break: the part of the time that is over, what the run does, and
 * the time that is left. To fit, shortens the id, then drops the rate.
 */
export function renderProgress(progress: Progress, width: number): string {
  const { requests, elapsedMs, doing } = progress;
  const [share, left = duration(elapsedMs)] = shareOf(progress);
  const place = share === undefined ? '' : `${share}  `;
  const rate = elapsedMs < TOO_EARLY_MS ? '' : `, ${count(Math.round((requests * 1000) / elapsedMs))}/s`;
  const [withRate, without] = [rate, ''].map((speed) => `${requestsOf(progress)}${speed}  ${left}`);
  const rest = columns(`${place}${withRate}`) <= width ? withRate! : without!;
  const room = width - columns(`${place}  ${rest}`);
  const id = room < MIN_ID ? '' : `${printable(doing, room)}  `;
  return printable(`${place}${id}${rest}`, width);
}

/** `34 %` and `about 1 min 20 s left`; nothing before it can be told. */
function shareOf({ elapsedMs, expectedMs }: Pick<Progress, 'elapsedMs' | 'expectedMs'>): readonly string[] {
  if (expectedMs === undefined) return [];
  const percent = Math.min(99, Math.floor((100 * elapsedMs) / expectedMs));
  const seconds = Math.max(1, Math.round((expectedMs - elapsedMs) / 1000));
  return [`${percent} %`, `about ${seconds < 60 ? `${seconds} s` : duration(1000 * seconds)} left`];
}

const requestsOf = ({ requests, maxRequests }: Progress) =>
  Number.isFinite(maxRequests)
    ? `${count(requests)} of ${plural(maxRequests, 'request')}`
    : plural(requests, 'request');

/** Names a requirement that has failed, in a line. */
const renderFailed = (id: string, width: number): string => `✗ ${printable(id, width - 2)}\n`;

/** `waiting 4:12 for user-status (429, Retry-After 297 s)` */
export const renderWaiting = ({ endpoint, waitMs, why }: Waiting): string => {
  const seconds = Math.ceil(waitMs / 1000);
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return `waiting ${time}${endpoint === undefined ? '' : ` for ${endpoint}`} (${printable(why, 100)})`;
};
