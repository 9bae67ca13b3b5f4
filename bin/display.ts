import { renderFailed, renderProgress, renderWaiting } from '../reports/index.ts';
import type { Progress, Waiting } from '../schemas/progress.ts';
import type { RunOptions } from '../suites/index.ts';
import type { CliContext } from './cli-context.ts';

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
    if (isTerminal && left.length > 0)
      show(
        left
          .map((one) => renderWaiting(rest(one)))
          .join('; ')
          .slice(0, terminal.width),
      );
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
      show(renderWaiting(rest(one)));
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
