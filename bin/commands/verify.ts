import { reportFormats, transcriptFormats, type ReportName } from '../../reports/formats.ts';
import { Problem } from '../../schemas/problem.ts';
import type { Requirement } from '../../suites/index.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodeOf, exitCodes } from '../exit-codes.ts';
import type { ReportRequest } from '../report-files.ts';
import { command, type Values } from './command.ts';
import {
  config,
  defaults,
  duration,
  file,
  list,
  onOff,
  outputs,
  positiveNumberTo,
  seed,
  target as targetFlags,
  text,
  wholeNumberFrom,
} from './flags.ts';

const positionals = {
  url: { type: 'string', describe: '{base_url} of the target; may carry a path' },
} as const;

const flags = {
  fixture: targetFlags.fixture,
  partner: { ...targetFlags.partner, isRare: true },
  cases: {
    ...wholeNumberFrom(1, 1_000_000),
    default: String(defaults.cases),
    describe: 'inputs per requirement',
  },
  seed: {
    isRare: true,
    ...seed,
    describe: 'whole number that decides every drawn input (default: a new one, printed)',
  },
  concurrency: {
    isRare: true,
    ...wholeNumberFrom(1, 256),
    describe: `requests at once to an endpoint (default: ${defaults.concurrency}, in rate-limit bursts as many as it takes)`,
  },
  suite: { ...list, completions: 'suites', describe: 'check this suite only' },
  only: {
    ...list,
    completions: 'requirements',
    // Whoever names one wants that: also where most runs are about others, as a replay that a report prints.
    setsAside: ['suite', 'skip'],
    describe: 'check this requirement only',
  },
  skip: { ...list, completions: 'requirements', describe: 'leave this requirement out' },
  timeout: {
    isRare: true,
    ...wholeNumberFrom(1, 600_000),
    default: String(defaults.timeoutMs),
    describe: 'ms that an answer may take',
  },
  'max-duration': {
    isRare: true,
    ...duration,
    default: `${defaults.maxDurationMs / 60_000}m`,
    describe: 'time that the run of a target may take: 90s, 5m, 1h; the mock waits in no time',
  },
  'max-requests': {
    isRare: true,
    ...wholeNumberFrom(1, 1_000_000_000),
    describe: 'requests that the run may send (default: no bound)',
  },
  rate: {
    isRare: true,
    ...positiveNumberTo(100_000),
    describe: 'requests a second, at most, such as 20 or 0.5 (default: as fast as they come)',
  },
  plan: {
    ...onOff,
    configurable: 'never',
    describe: 'say what a run takes, and send nothing',
  },
  strict: { ...onOff, describe: 'fail on recommended requirements too' },
  baseline: {
    ...file,
    describe: 'JSON file of known failures to let pass',
  },
  'update-baseline': {
    isRare: true,
    ...onOff,
    configurable: 'never',
    describe: 'write what fails now to that file; a new failure waits there for its reason',
  },
  'allow-incomplete': {
    isRare: true,
    ...onOff,
    describe: 'exit 0 where only something went unjudged',
  },
  header: { ...targetFlags.header, isRare: true },
  ca: { ...targetFlags.ca, isRare: true },
  insecure: { ...targetFlags.insecure, isRare: true },
  report: {
    ...outputs,
    completions: [...reportFormats, ...transcriptFormats],
    describe: `${[...reportFormats, ...transcriptFormats].join(', ')}, or format=file`,
  },
  'state-url': { ...targetFlags['state-url'], isRare: true },
  'no-canary': {
    isRare: true,
    ...onOff,
    describe: 'do not show first, on the mock, that the suites can fail',
  },
  replay: {
    isRare: true,
    ...text,
    configurable: 'never',
    // What is tried again is looked at: it judges no baseline, and is no news for a CI server. Without
    // --cases it means the default, as the line means that a report prints.
    setsAside: ['baseline', 'report', 'cases'],
    describe: 'with --only and --seed: the one input that a report names',
  },
  config,
} as const;

type VerifyFlags = Values<typeof flags> & Values<typeof positionals>;

export const verify = command({
  usage: 'verify [url]',
  what: 'verify a server by its {base_url}, or the mock where none is given',
  positionals,
  flags,
  configured: { by: 'verify' },
  examples: [['$0 verify', 'verify the mock, to see what comes of it']],
  run: runVerify,
});

async function runVerify(given: VerifyFlags, context: CliContext): Promise<number> {
  const { signal, print, writeError } = context;
  const [reporting, engine, files, github, { openBaseline }, { openTranscripts }, { verifyRun }] =
    await Promise.all([
      import('../../reports/index.ts'),
      import('../../suites/index.ts'),
      import('../report-files.ts'),
      import('../github-actions.ts'),
      import('../baseline.ts'),
      import('../record-files.ts'),
      import('../verify-run.ts'),
    ]);
  const formats = { ...reporting.reports, ...reporting.transcripts };
  const requests = files.parseReports('report', formats, given.report, [given.fixture, given.baseline]);
  const baseline = await openBaseline(given);
  const { target, fixture, options } = await optionsOf(given, context);
  const isBadge = ({ format }: ReportRequest) => format === 'badge';
  const narrowed = requests.some(isBadge) ? reporting.narrowedBy(options.selection) : undefined;
  if (narrowed !== undefined)
    throw new Problem('usage', `--report badge: ${reporting.ONLY_WHOLE}${narrowed}`);

  if (given.plan && signal.aborted) return exitCodes.interrupted[0];
  if (given.plan) {
    await print(reporting.renderPlan(engine.plan(options)));
    return 0;
  }
  if (target !== undefined && !signal.aborted) writeError(reporting.renderPlan(engine.plan(options)));

  const isReport = (request: ReportRequest): request is ReportRequest<ReportName> =>
    Object.hasOwn(reporting.reports, request.format);
  const reportFiles = await files.prepareReports(requests.filter(isReport), context);
  try {
    const streams = requests.filter((request) => !isReport(request));
    const streamedTo = streams.map((stream) => stream.file);
    const transcripts = openTranscripts(streamedTo, context);
    const found = await verifyRun(
      {
        target,
        fixture,
        isOwnFixture: given.fixture !== undefined,
        options,
        hasCanary: !given.noCanary,
        transcripts,
      },
      context,
    );
    const { record, text: newBaseline } = baseline.apply(found);

    const unfit = requests.some(isBadge) ? reporting.unfitForBadge(record) : undefined;
    if (unfit !== undefined) writeError(`ib-conformance: --report badge: ${reporting.ONLY_WHOLE}${unfit}\n`);
    const isWritten = (request: ReportRequest) => unfit === undefined || !isBadge(request);
    const report = async () => {
      try {
        await reportFiles.write(
          (format, shown) => reporting.reports[format].render(record, shown),
          isWritten,
        );
      } finally {
        await github.annotateStep(requests, record, context);
      }
    };
    try {
      await files.settleAll([report(), transcripts.close(), baseline.save(newBaseline)]);
    } catch (error) {
      writeError(`ib-conformance: the verdict, all the same: ${reporting.renderVerdict(record)}`);
      throw error;
    }
    const places = [...requests.filter(isReport).filter(isWritten), ...streams].flatMap((request) =>
      request.file === undefined ? [] : [`${request.format} in ${request.file}`],
    );
    if (places.length > 0) writeError(`written: ${places.join(', ')}\n`);
    return exitCodeOf(record, given);
  } finally {
    await reportFiles.discard();
  }
}

/** Reads the flags; names and paths are checked before the fixture is read. */
async function optionsOf(given: VerifyFlags, context: CliContext) {
  const [{ runOptions, select, trustOf }, { loadFixture }, { headerFields, targetUrl }] = await Promise.all([
    import('../run-options.ts'),
    import('../fixture-file.ts'),
    import('../values.ts'),
  ]);
  const { replay } = given;
  const { requirements } = select(given, given.stateUrl !== undefined);
  if (given.stateUrl !== undefined && given.url === undefined)
    throw new Problem('usage', '--state-url goes with the URL of a target');
  if (replay !== undefined) refuseReplay(requirements);
  const fixture = await loadFixture(given.fixture, context.env);
  const options = runOptions({
    ...given,
    fixture,
    timeoutMs: given.timeout,
    maxDurationMs: given.maxDuration,
    headers: headerFields(given.header),
    tls: await trustOf(given),
    stateUrl: ifGiven(given.stateUrl, targetUrl),
    signal: context.signal,
  });
  const target = ifGiven(given.url, targetUrl);
  return {
    target,
    fixture,
    options: {
      ...options,
      // Waiting for the mock takes no time.
      ...(target === undefined ? { maxDurationMs: Number.POSITIVE_INFINITY } : {}),
      ...(replay === undefined ? {} : { path: replay, selection: { ...options.selection, replay } }),
      rerun: rerunCommand(given),
    },
  };
}

function ifGiven<Value>(given: string | undefined, read: (text: string) => Value): Value | undefined {
  return given === undefined ? undefined : read(given);
}

function refuseReplay(requirements: readonly Requirement[]): void {
  const [requirement] = requirements;
  if (requirements.length !== 1)
    throw new Problem('usage', '--replay speaks of one requirement: name it with --only');
  if (requirement?.kind !== 'rule')
    throw new Problem('usage', `--replay: ${requirement?.id} has no inputs to replay; leave --replay out`);
}

/** The command that repeats a run, without its filters and its seed. Shows no value of --header. */
function rerunCommand(given: VerifyFlags): string {
  const quoted = (word: string) =>
    /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
  const withValue = (flag: string, value: string | undefined) =>
    value === undefined ? [] : [`--${flag} ${quoted(value)}`];
  return [
    'ib-conformance verify',
    ...(given.url === undefined ? [] : [quoted(given.url)]),
    ...withValue('fixture', given.fixture),
    ...withValue('partner', given.partner),
    ...(given.cases === defaults.cases ? [] : [`--cases ${given.cases}`]),
    ...withValue('state-url', given.stateUrl),
    ...withValue('ca', given.ca),
    ...(given.insecure ? ['--insecure'] : []),
    ...given.header.map((field) => `--header '${field.slice(0, field.indexOf(':'))}: …'`),
  ].join(' ');
}
