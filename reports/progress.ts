import type { Progress, Waiting } from '../schemas/progress.ts';
import { columns, count, duration, compact, printable, plural } from './text.ts';

/** Minimum columns of an id. With less space, the line has no id. */
const MIN_ID = 12;
/** Before this time, in ms, no rate is shown. */
const TOO_EARLY_MS = 1000;

/** Renders one line of `width` columns, without a line break. To fit, shortens the id, then drops the rate. */
export function renderProgress(progress: Progress, width: number): string {
  const { requests, elapsedMs, doing, done, total } = progress;
  const place = `[${done}/${total}]`;
  const rate = elapsedMs < TOO_EARLY_MS ? '' : `, ${count(Math.round((requests * 1000) / elapsedMs))}/s`;
  const withRate = figuresOf(progress, rate);
  const rest = columns(`${place}  ${withRate}`) <= width ? withRate : figuresOf(progress, '');
  const room = width - columns(`${place}   ${rest}`);
  const id = room < MIN_ID ? '' : ` ${printable(doing, room)}`;
  return printable(`${place}${id}  ${rest}`, width);
}

function figuresOf(progress: Progress, rate: string): string {
  const { requests, maxRequests, elapsedMs, maxDurationMs } = progress;
  const isBounded = Number.isFinite(maxRequests);
  return compact(
    (isBounded ? `${count(requests)} of ${plural(maxRequests, 'request')}` : plural(requests, 'request')) +
      rate,
    duration(elapsedMs) + (Number.isFinite(maxDurationMs) ? ` of ${duration(maxDurationMs)}` : ''),
  ).join('  ');
}

/** Names a requirement that has failed, in a line. */
export const renderFailed = (id: string, width: number): string => `✗ ${printable(id, width - 2)}\n`;

/** `waiting 4:12 for user-status (Retry-After 297 s)` */
export const renderWaiting = ({ endpoint, waitMs, why }: Waiting): string => {
  const seconds = Math.ceil(waitMs / 1000);
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return `waiting ${time}${endpoint === undefined ? '' : ` for ${endpoint}`} (${printable(why, 100)})`;
};
