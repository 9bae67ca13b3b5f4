import { randomInt } from 'node:crypto';
import { renderPlan, renderVerdict } from '../reports/index.ts';
import { Problem } from '../schemas/problem.ts';
import { drawAhead, knowledge, plan, stateHookAt, type RunOptions } from '../suites/index.ts';
import { refuseBadgeOfPart, withoutUnfitBadge } from './badge.ts';
import { openBaseline } from './baseline-file.ts';
import { trustOf } from './certificates.ts';
import { ourHeaders } from './defaults.ts';
import { diagnose } from './diagnose.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';
import { loadFixture } from './fixture-file.ts';
import { githubActions } from './github-actions.ts';
import { announceEnd, clearLine, progressLine } from './progress-line.ts';
import type { CliContext } from './cli-context.ts';
import {
  discardOutputs,
  parseReport,
  prepareOutputs,
  refuseSharedOutputs,
  renderedFor,
  writeOutputs,
  type ReportRequest,
} from './report-files.ts';
import { rerunCommand } from './rerun-command.ts';
import { select } from './select.ts';
import { spareOptimizing } from './spare-optimizing.ts';
import { openTranscripts } from './transcription.ts';
import { durationMs, headerFields, positiveNumber, targetUrl, wholeNumber } from './values.ts';
import { verifyMock, verifyTarget, type Recorded } from './verify-runs.ts';
import { version } from './version.ts';

/** The flags of `verify`, as they were typed. */
export interface VerifyFlags {
  readonly url?: string | undefined;
  readonly fixture?: string | undefined;
  readonly partner?: string | undefined;
  readonly cases: string;
  readonly seed?: string | undefined;
  readonly concurrency: string;
  readonly suite: readonly string[];
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly timeout: string;
  readonly maxDuration: string;
  readonly maxRequests?: string | undefined;
  readonly rate?: string | undefined;
  readonly plan: boolean;
  readonly strict: boolean;
  readonly allowIncomplete: boolean;
  readonly header: readonly string[];
  readonly ca?: string | undefined;
  readonly insecure: boolean;
  readonly report: readonly string[];
  readonly replay?: string | undefined;
  readonly stateUrl?: string | undefined;
  readonly noCanary: boolean;
  readonly baseline?: string | undefined;
  readonly updateBaseline: boolean;
}

/** Verifies a target, or the mock where none is given, and returns the exit code. */
export async function verify(flags: VerifyFlags, context: CliContext): Promise<number> {
  const { env, signal } = context;
  const { requirements, skip, selection } = select({
    ...flags,
    hasStateHook: flags.stateUrl !== undefined,
  });
  if (flags.stateUrl !== undefined && flags.url === undefined)
    throw new Problem('usage', '--state-url goes with the URL of a target');
  if (flags.replay !== undefined && requirements.length !== 1)
    throw new Problem('usage', '--replay speaks of one requirement: name it with --only');
  if (flags.replay !== undefined && requirements[0]?.kind !== 'property')
    throw new Problem(
      'usage',
      `--replay: ${requirements[0]?.id} has no inputs to replay; leave --replay out`,
    );
  const requests = (flags.report.length === 0 ? ['console'] : flags.report).map(parseReport);
  refuseSharedOutputs('report', requests, [flags.fixture, flags.baseline]);
  const baseline = await openBaseline(flags);
  const asked = { ...selection, ...(flags.replay === undefined ? {} : { replay: flags.replay }) };
  refuseBadgeOfPart(requests, asked);
  const actions = githubActions(requests, context);
  const fixture = await loadFixture(flags.fixture, env);
  const timeoutMs = wholeNumber('timeout', flags.timeout, 1, 600_000);
  const options: Omit<RunOptions, 'target' | 'clock' | 'maxDurationMs'> = {
    known: knowledge(fixture, flags.partner),
    requirements,
    skip,
    selection: asked,
    seed:
      flags.seed === undefined
        ? randomInt(2 ** 31)
        : wholeNumber('seed', flags.seed, -(2 ** 31), 2 ** 31 - 1),
    cases: wholeNumber('cases', flags.cases, 1, 1_000_000),
    concurrency: wholeNumber('concurrency', flags.concurrency, 1, 256),
    timeoutMs,
    maxRequests:
      flags.maxRequests === undefined
        ? Number.POSITIVE_INFINITY
        : wholeNumber('max-requests', flags.maxRequests, 1, 1_000_000_000),
    ...(flags.rate === undefined ? {} : { rate: positiveNumber('rate', flags.rate, 100_000) }),
    headers: { ...ourHeaders, ...headerFields(flags.header) },
    tls: await trustOf(flags),
    ...(flags.stateUrl === undefined ? {} : { stateHook: stateHookAt(targetUrl(flags.stateUrl), timeoutMs) }),
    random: Math.random,
    signal,
    version,
    rerun: rerunCommand(flags),
    ...(flags.replay === undefined ? {} : { path: checkedPath(flags.replay) }),
    ...progressLine(context),
  };
  const maxDurationMs = durationMs('max-duration', flags.maxDuration);
  const target = flags.url === undefined ? undefined : targetUrl(flags.url);
  const planned = () =>
    renderPlan(
      plan({ ...options, maxDurationMs: target === undefined ? Number.POSITIVE_INFINITY : maxDurationMs }),
    );
  if (flags.plan || target !== undefined) await drawAhead(options, signal);
  if (flags.plan) {
    if (signal.aborted) return exitCodes.interrupted[0];
    await context.print(planned());
    return 0;
  }
  if (target !== undefined && !signal.aborted) context.writeError(planned());
  const isStream = ({ format }: ReportRequest<string>) => format === 'ndjson';
  const outputs = await prepareOutputs(requests.filter((request) => !isStream(request)) as ReportRequest[]);
  const transcription = openTranscripts(
    requests.filter(isStream).map(({ file }) => file),
    context,
  );
  spareOptimizing();
  try {
    announceEnd(context);
    const caught =
      flags.noCanary || signal.aborted
        ? undefined
        : await (await import('./canary.ts')).canary(await loadFixture(undefined, env), options.seed);
    const recorded: Recorded = (url, notes) =>
      transcription.of({
        ...options,
        selection: asked,
        target: url,
        notes,
        fixture,
        requirements: requirements.map(({ id }) => id),
        hasStateHook: options.stateHook !== undefined,
        ...(caught === undefined ? {} : { canary: caught }),
      });
    const found =
      target === undefined
        ? await verifyMock(fixture, options, recorded)
        : await verifyTarget(target, flags, { ...options, maxDurationMs }, recorded);
    clearLine(context);
    const suspicions = await diagnose(found, fixture);
    const held = baseline.hold({
      ...found,
      ...(caught === undefined ? {} : { canary: [...caught] }),
      ...(suspicions.length === 0 ? {} : { diagnosis: [...suspicions] }),
    });
    const { record } = held;
    const fitting = withoutUnfitBadge(outputs, record, context.writeError);
    const report = async () => {
      try {
        await writeOutputs(fitting, actions.print, renderedFor(record, context.terminal));
      } finally {
        await actions.finish(record);
      }
    };
    const endings = await Promise.allSettled([report(), transcription.close(), baseline.save(held.text)]);
    const failures = endings.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    if (failures.length > 0) {
      context.writeError(`ib-conformance: the verdict, all the same: ${renderVerdict(record)}`);
      throw new AggregateError(failures);
    }
    const places = [...fitting, ...requests.filter(isStream)].flatMap(({ format, file }) =>
      file === undefined ? [] : [`${format} in ${file}`],
    );
    if (places.length > 0) context.writeError(`written: ${places.join(', ')}\n`);
    return exitCodeOf(record, flags);
  } finally {
    await discardOutputs(outputs);
  }
}

function checkedPath(path: string): string {
  if (/^\d{1,7}(?::\d{1,4})*$/.test(path)) return path;
  throw new Problem('usage', `--replay ${path}: is not a path such as 3:0:1, as reports print it`);
}
