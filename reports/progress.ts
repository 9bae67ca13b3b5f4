import type { Need, Other, Plan, Progress, Waiting } from '../schemas/plan.ts';
import { flagDuration, needWords } from './limits.ts';
import { strengthWords } from './strength.ts';
import { columns, count, duration, compact, padded, printable, plural } from './text.ts';
import { shorten } from './verdict.ts';

/** Minimum columns of an id. With less space, the line has no id. */
const MIN_ID = 12;
/** Maximum number of ids of failing requirements in a line. */
const MAX_IDS = 12;
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

/** Renders the plan in a few lines, for people. */
export function renderPlan(plan: Plan): string {
  const { requests, sent, durationMs, keys, load, because, leftOut, notCompared, needs, others } = plan;
  const [title, more] =
    sent === undefined ? ['plan', ''] : [`new plan after ${plural(sent, 'request')}`, 'more '];
  const waits = durationMs === 0 ? '' : `, ${duration(durationMs)} of waiting`;
  const lines = compact(
    `${title}: about ${plural(requests, 'request')}${waits}, ${strengthWords(plan)}`,
    ...load.map(({ endpoint, counted, limit, limitedMs }) => {
      const at =
        limit === undefined
          ? 'no limit stated; it is found with the first 429'
          : `${count(limit.most)} pass in ${duration(limit.windowMs)}, ${plural(keys, 'key')}; limited for ${duration(limitedMs)} after the run`;
      return `  ${endpoint}: ${plural(counted, `${more}counted request`)}; ${at}`;
    }),
    notCompared.length > 0 &&
      `  not compared for lack of time: the stated limit of ${notCompared.join(' and ')}`,
    leftOut.length > 0 && `  skipped for lack of time: ${leftOut.join(', ')}`,
    ...otherLines(others),
    because !== undefined &&
      `  ${because} cuts this run: ${needs.map((need) => needWords(flagNeed(need), because === '--max-requests')).join('; ')}`,
  );
  return lines.map((line) => `${line}\n`).join('');
}

const flagNeed = ({ durationMs, ...need }: Need) => ({ ...need, seconds: durationMs / 1000 });

/** A table of what other bounds and more keys reach. */
function otherLines(others: Plan['others']): readonly string[] {
  if (others.length === 0) return [];
  const cell = ({ strength, durationMs, maxDurationMs = Infinity }: Other) =>
    `strength ${strength}${Number.isFinite(maxDurationMs) ? '' : ` in ${duration(durationMs)}`}`;
  const keys = [...new Set(others.map((one) => one.keys))];
  const own = others.filter((one) => one.keys === keys[0]);
  const heads = own.map(({ maxDurationMs = Infinity }) =>
    Number.isFinite(maxDurationMs) ? flagDuration(maxDurationMs / 1000) : 'no bound',
  );
  const row = (first: string, cells: readonly string[]) =>
    `  ${padded(first, 14)}${cells.map((one) => padded(one, 12)).join('')}`.trimEnd();
  return [
    row(
      '--max-duration',
      heads.map((head) => ` ${head}`),
    ),
    ...keys.map((number) =>
      row(
        plural(number, 'key'),
        others.filter((one) => one.keys === number).map((one) => ` ${cell(one)}`),
      ),
    ),
  ];
}

/** Names the requirements that have failed so far, in one line for a log; empty without any. */
export const renderFailing = (ids: readonly string[]): string =>
  ids.length === 0
    ? ''
    : `failing so far: ${shorten(ids, MAX_IDS).join(', ')}; Ctrl-C ends the run with its reports\n`;

/** `waiting 4:12 for user-status (Retry-After 297 s)` */
export const renderWaiting = ({ endpoint, waitMs, why }: Waiting): string => {
  const seconds = Math.ceil(waitMs / 1000);
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return `waiting ${time}${endpoint === undefined ? '' : ` for ${endpoint}`} (${printable(why, 100)})`;
};
