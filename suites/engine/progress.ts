import type { Budget } from './budget.ts';
import type { Findings } from './findings.ts';
import type { RunOptions } from './run-options.ts';

/** Between requests, progress is reported so often, in ms: a person sees a failure when it comes. */
const REPORT_MS = 50;

export type Progress = ReturnType<typeof createProgress>;

/** Reports what a run does, in real time even with a virtual clock. */
export function createProgress(
  { requirements, maxDurationMs, maxRequests, onProgress }: RunOptions,
  budget: Budget,
  { results, failing }: Findings,
) {
  const begun = performance.now();
  let doing = 'preflight';
  let reportedAt = Number.NEGATIVE_INFINITY;
  const report = (what = doing): void => {
    doing = what;
    reportedAt = performance.now();
    onProgress?.({
      done: results.size,
      total: requirements.length,
      doing,
      requests: budget.spent(),
      elapsedMs: reportedAt - begun,
      maxDurationMs,
      maxRequests,
      failing: failing(),
    });
  };
  return {
    report,
    /** Reports now and then. */
    tick: (): void => {
      if (performance.now() - reportedAt >= REPORT_MS) report();
    },
    elapsedMs: (): number => performance.now() - begun,
  };
}
