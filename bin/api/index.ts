import type { RunRecord } from '../../schemas/generated/types.ts';
import { defined } from '../../schemas/values.ts';
import { wrongUsage } from '../../schemas/problem.ts';
import { exitCodeOf } from '../exit-codes.ts';
import type { VerifyOptions } from './verify-options.ts';
import { proxyIn, parseHeaders, parseTarget, parseUrl } from '../network.ts';
import { runOptions } from '../run-options.ts';
import { run } from '../../suites/index.ts';
import { checkFixture } from '../../schemas/fixture.ts';
import { judgedBy } from '../../reports/judgement.ts';
import { reports, type ReportName, type ReportOptions } from '../../reports/index.ts';

export { loadFixture } from '../input-files.ts';
export { version } from '../version.ts';
export * from '../../mock/index.ts';
export type { ReportName, ReportOptions, VerifyOptions };
export type { Progress } from '../../schemas/progress.ts';

/** Result of `verify`. */
export interface VerifyResult {
  /** The run record: verdict, counts, and each requirement with outcome and evidence. */
  readonly record: RunRecord;
  /** As on the command line: 0 conformant, 1 nonconformant, 3 incomplete, 70 a bug of ours, 130 interrupted. */
  readonly exitCode: number;
}

/** Marks of Jest, of Vitest and Sinon, and of node:test. Browsers' globals and tracers replace timers, too, with real ones. */
const areFake = (timer: typeof setTimeout): boolean =>
  '_isMockFunction' in timer || 'clock' in timer || timer.name === 'bound #createTimer';

/**
 * Verifies a server, in real time.
 *
 * @throws Problem for fake timers, an unknown name, an invalid fixture or an unreachable server
 */
export async function verify(given: VerifyOptions): Promise<VerifyResult> {
  if (areFake(globalThis.setTimeout))
    throw wrongUsage(
      'verify() waits in real time, but the timers are fake: use real ones for it, such as with vi.useRealTimers() or mock.timers.reset()',
    );
  const { url, fixture, env = process.env, headers = {}, tls, stateUrl, ...others } = given;
  const { strict = false, allowIncomplete = false, onProgress, ...options } = others;
  const request = runOptions({
    ...options,
    fixture: checkFixture(fixture, 'fixture', env),
    headers: parseHeaders(Object.entries(headers).map(([name, value]) => `${name}: ${value}`)),
    tls: { insecure: false, ...tls, ...defined({ proxy: proxyIn(env) }) },
    stateUrl: stateUrl === undefined ? undefined : parseUrl(String(stateUrl)),
  });
  const found = await run({
    ...request,
    target: parseTarget(String(url)),
    ...(onProgress && { onProgress }),
  });
  const record = judgedBy(found, { strict, allowIncomplete });
  return { record, exitCode: exitCodeOf(record) };
}

/**
 * Renders a report of a run.
 *
 * @param format console, html, json, junit, markdown or github
 * @throws Problem with code `usage` for an unknown format
 */
export async function render(
  record: RunRecord,
  format: ReportName,
  { color = false, width = 100 }: Partial<ReportOptions> = {},
): Promise<string> {
  if (!Object.hasOwn(reports, format))
    throw wrongUsage(`there is no format ${format}; formats: ${Object.keys(reports).join(', ')}`);
  return reports[format](record, { color, width });
}
