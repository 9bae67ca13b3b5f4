import type { Waiting } from '../../schemas/progress.ts';
import { defined } from '../../schemas/values.ts';
import type { Budget } from './budget.ts';
import type { Estimate } from './expected-run.ts';
import type { Findings } from './findings.ts';
import type { RunOptions } from './run-options.ts';

/** Between requests, progress is reported so often, in ms: a person sees a failure when it comes. */
const REPORT_MS = 50;

/** Fewer requests say little of the speed of the target. */
const ENOUGH_REQUESTS = 50;

interface ProgressOptions extends Pick<
  RunOptions,
  'requirements' | 'maxDurationMs' | 'maxRequests' | 'maxRealMs' | 'onProgress'
> {
  readonly clock: Pick<RunOptions['clock'], 'now'>;
}

export type Progress = ReturnType<typeof createProgress>;

/**
 * Reports what a run does, in real time even with a virtual clock.
 *
 * @param expected how many requests the run sends, and how long it waits, in ms; without it, no end is told
 */
export function createProgress(
  { requirements, maxDurationMs, maxRequests, maxRealMs, onProgress, clock }: ProgressOptions,
  budget: Pick<Budget, 'spent'>,
  { results, failing }: Pick<Findings, 'results' | 'failing'>,
  expected?: Pick<Estimate, 'requests' | 'waitsMs'>,
) {
  const begun = performance.now();
  /** How long each endpoint waits in all, and until when, in ms of the clock. */
  const waits = new Map<Waiting['endpoint'], { readonly ms: number; readonly until: number }>();
  const waited = () => Math.max(0, ...[...waits.values()].map(({ ms, until }) => ms - left(until)));
  const left = (until: number) => Math.max(0, until - clock.now());
  /** How long the run takes in all, by its speed so far. On a virtual clock, waits take no time. */
  const expectedMs = (elapsedMs: number): number | undefined => {
    const spent = budget.spent();
    if (expected === undefined || spent < ENOUGH_REQUESTS) return undefined;
    const begunMs = Math.max(0, ...[...waits.values()].map(({ ms }) => ms));
    const [done, all] = maxRealMs === undefined ? [waited(), Math.max(expected.waitsMs, begunMs)] : [0, 0];
    const askingMs = Math.max(0, elapsedMs - done) * Math.max(1, expected.requests / spent);
    return Math.max(elapsedMs, Math.min(all + askingMs, maxRealMs ?? maxDurationMs));
  };
  let doing = 'preflight';
  let reportedAt = Number.NEGATIVE_INFINITY;
  const report = (what = doing): void => {
    doing = what;
    reportedAt = performance.now();
    const elapsedMs = reportedAt - begun;
    onProgress?.({
      ...defined({ expectedMs: expectedMs(elapsedMs) }),
      done: results.size,
      total: requirements.length,
      doing,
      requests: budget.spent(),
      elapsedMs,
      maxDurationMs,
      maxRequests,
      failing: failing(),
    });
  };
  /** Reports now and then. */
  const tick = (): void => {
    if (performance.now() - reportedAt >= REPORT_MS) report();
  };
  return {
    report,
    /** Notes a wait. @param until in ms of the clock */
    wait: (endpoint: Waiting['endpoint'], until: number): void => {
      const before = waits.get(endpoint) ?? { ms: 0, until: Number.NEGATIVE_INFINITY };
      const more = Math.max(0, until - Math.max(clock.now(), before.until));
      waits.set(endpoint, { ms: before.ms + more, until: Math.max(before.until, until) });
      tick();
    },
    tick,
    elapsedMs: (): number => performance.now() - begun,
  };
}
