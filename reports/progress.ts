import type { Plan, Progress } from '../schemas/plan.ts';
import { strengthWords } from './strength.ts';
import { columns, count, duration, compact, printable, plural } from './text.ts';

/** Minimum columns of an id. With less space, the line has no id. */
const MIN_ID = 12;
/** Before this time, in ms, no rate is shown. */
const TOO_EARLY_MS = 1000;

/** Renders one line of `width` columns, without a line break. To fit, shortens the id, then drops the rate. */
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
  const { requests, durationMs, load, cutTo, because, leftOut, notCompared, wholeMs, reached } = plan;
  const waits = durationMs === 0 ? '' : `, plus about ${duration(durationMs)} of waiting`;
  const lines = compact(
    `plan: about ${plural(requests, 'request')}${waits}`,
    ...load.map(({ endpoint, counted, keys, limit }) => {
      const at =
        limit === undefined
          ? 'no limit stated; it is found with the first 429'
          : `${count(limit.most)} pass in ${duration(limit.windowMs)} (one is reserved), ${plural(keys, 'key')}`;
      return `  ${endpoint}: ${plural(counted, 'counted request')}; ${at}`;
    }),
    reached && `  ${strengthWords(reached)}`,
    cutTo !== undefined &&
      because !== undefined &&
      `  ${because} allows at most ${plural(cutTo, 'case')} per endpoint: every level first, then pairs, then triples; rate limits last`,
    notCompared.length > 0 &&
      `  not compared for lack of time: the stated limit of ${notCompared.join(' and ')}`,
    leftOut.length > 0 && `  skipped for lack of time: ${leftOut.join(', ')}`,
    wholeMs !== undefined &&
      `  a full run waits about ${duration(wholeMs)}: raise --max-duration, or add keys`,
  );
  return lines.map((line) => `${line}\n`).join('');
}
