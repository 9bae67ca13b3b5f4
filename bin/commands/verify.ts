import { reportFormats } from '../../reports/document.ts';
import { Problem, wrongUsage } from '../../schemas/problem.ts';
import type { Requirement } from '../../suites/index.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodeOf } from '../exit-codes.ts';
import { command, type Values } from './command.ts';
import * as kinds from './flags.ts';
import { openBaseline } from '../baseline.ts';
import { openLog } from '../exchange-log.ts';
import { verifyRun } from '../verify-run.ts';
import { rerunCommand, runOptions, select } from '../run-options.ts';
import { networkOf } from '../network.ts';
import { runReports } from '../report-files.ts';
import { loadFixture } from '../input-files.ts';
import { headlineOf, judgedBy } from '../../reports/judgement.ts';
import * as engine from '../../suites/index.ts';
import * as files from '../report-files.ts';

const { defaults } = kinds;

const positionals = {
  url: {
    ...kinds.targetArgument,
    coerce: (given: string) => (given === 'mock' ? given : kinds.targetArgument.coerce(given)),
    describe: 'base URL of the target; `mock` for the built-in mock',
  },
} as const;

const flags = {
  fixture: kinds.target.fixture,
  cases: { ...kinds.wholeNumberOr(defaults.cases, 1, 1_000_000), describe: 'limit the cases per endpoint' },
  only: {
    ...kinds.list,
    // A typed --only, for example in a replay command, overrides configured filters.
    overrides: ['skip'],
    describe: 'check only this suite, id, or beginning of ids',
  },
  skip: { ...kinds.list, describe: 'skip this suite, id, or beginning of ids' },
  strict: { ...kinds.onOff, describe: 'fail on recommended requirements, too, and require every level' },
  baseline: { ...kinds.file, describe: 'accept the known failures in this JSON file' },
  report: {
    ...kinds.outputs,
    describe: `write a report: ${reportFormats.join(', ')}, or format=file`,
  },
  verbose: { ...kinds.onOff, describe: 'print every requirement and what was observed' },
  config: kinds.config,
  partner: kinds.target.partner,
  seed: { ...kinds.seed, describe: 'set the seed of all random values (default: a new one, printed)' },
  concurrency: {
    ...kinds.wholeNumberFrom(1, 256),
    describe: `send this many requests at once per endpoint (default: ${defaults.concurrency}; in bursts as many as needed)`,
  },
  timeout: {
    ...kinds.wholeNumberOr(defaults.timeoutMs, 1, 600_000),
    describe: 'wait at most this many ms for an answer',
  },
  'max-duration': {
    ...kinds.duration,
    default: `${defaults.maxDurationMs / 60_000}m`,
    describe: 'stop after this time: 90s, 5m, 1h',
  },
  'max-requests': {
    ...kinds.wholeNumberFrom(1, 1_000_000_000),
    describe: 'send at most this many requests (default: no limit)',
  },
  rate: {
    ...kinds.positiveNumberTo(100_000),
    describe: 'send this many requests per second on average, such as 20 or 0.5 (default: no limit)',
  },
  log: {
    ...kinds.file,
    describe: 'write every request and answer to this file: a line of JSON each, without keys',
  },
  'update-baseline': {
    ...kinds.onOff,
    configurable: 'never',
    describe: 'write the current failures to the baseline file, for you to add reasons',
  },
  'allow-incomplete': {
    ...kinds.onOff,
    describe: 'exit with 0 if nothing failed and only data, levels or time were missing',
  },
  header: kinds.target.header,
  ...kinds.network,
  wait: kinds.target.wait,
  'state-url': kinds.target['state-url'],
  grace: {
    ...kinds.duration,
    default: `${defaults.graceMs / 1000}s`,
    describe: 'wait this long until all answers must show a change: 500ms, 5s',
  },
  replay: {
    ...kinds.text,
    configurable: 'never',
    // A replay is for a person: no baseline, no files. Without --cases, it uses the default.
    overrides: ['baseline', 'report', 'log', 'cases'],
    describe: 'repeat one lookup of a report; needs --only and --seed',
  },
} as const;

type Given = Values<typeof flags> & Values<typeof positionals>;

/** Without a URL, `verify` checks the mock. */
interface VerifyFlags extends Given {
  readonly url: URL | undefined;
}

export const verify = command({
  usage: 'verify [url]',
  what: 'verify a server; without a URL, verify the built-in mock',
  positionals,
  flags,
  configured: { section: 'verify' },
  examples: [['$0 verify http://localhost:8080 --fixture f.json', 'your server']],
  run: ({ url, ...given }, context) => {
    if (url === undefined && isSet(context.env['CI']))
      throw wrongUsage(
        'no URL was given. In CI (the variable CI is set), give the URL of the target: as an argument, in IB_CONFORMANCE_URL or in the config file. To verify the built-in mock, run `verify mock`',
      );
    return runVerify({ ...given, url: url === 'mock' ? undefined : url }, context);
  },
});

const isSet = (variable = '') => !['', '0', 'false'].includes(variable.toLowerCase());

async function runVerify(given: VerifyFlags, context: CliContext): Promise<number> {
  const { writeError } = context;
  const texts = files.withConsole(given.report);
  const sources = [given.fixture, given.baseline];
  const requests = files.parseReports('report', reportFormats, texts, sources, given.log);
  const baseline = await openBaseline(given, context);
  const { fixture, options } = await optionsOf(given, context);
  const reportFiles = await runReports(requests, context);
  try {
    const log = given.log === undefined ? undefined : openLog(given.log, writeError);
    const found = await verifyRun(given, fixture, options, log, context).catch(async (error: unknown) => {
      const explained = withStep(error, given, engine.redactor(options.known, options.headers), context);
      await reportFiles.reportStopped(explained);
      throw explained;
    });
    const { record: noted, text: newBaseline } = baseline.apply(found);
    const record = judgedBy(noted, given);

    try {
      await files.settleAll([
        reportFiles.report(record, given),
        Promise.resolve().then(log?.close),
        baseline.save(newBaseline),
      ]);
    } catch (error) {
      writeError(`ib-conformance: verdict: ${headlineOf(record)}\n`);
      throw error;
    }
    const places = requests.flatMap(({ format, file }) =>
      file === undefined ? [] : [`${format} in ${file}`],
    );
    if (places.length > 0) writeError(`written: ${places.join(', ')}\n`);
    return exitCodeOf(record);
  } finally {
    await reportFiles.discard();
  }
}

/** Adds the next step to the message about a target that cannot be verified. */
function withStep(
  error: unknown,
  given: VerifyFlags,
  redact: (text: string) => string,
  { env }: CliContext,
): unknown {
  if (!(error instanceof Problem) || error.code !== 'unreachable') return error;
  return new Problem(error.code, `${error.message}\nnext: ${redact(rerunCommand('doctor', given, env))}`);
}

/** Returns the options of a run. Checks names and paths before it reads the fixture. */
async function optionsOf(given: VerifyFlags, context: CliContext) {
  const { url, stateUrl, replay } = given;
  const { requirements } = select(given, stateUrl !== undefined);
  if (stateUrl !== undefined && url === undefined) throw wrongUsage('--state-url needs the URL of a target');
  if (replay !== undefined) checkReplay(replay, requirements);
  const fixture = await loadFixture(given.fixture, context.env, context);
  const options = runOptions({
    ...given,
    fixture,
    timeoutMs: given.timeout,
    waitMs: given.wait,
    // Waiting for the mock takes no time.
    maxDurationMs: url === undefined ? Number.POSITIVE_INFINITY : given.maxDuration,
    maxRealMs: url === undefined ? given.maxDuration : undefined,
    graceMs: given.grace,
    headers: given.header,
    tls: await networkOf(given, context),
    signal: context.signal,
  });
  return {
    fixture,
    options: {
      ...options,
      ...(replay !== undefined && { path: replay, selection: { ...options.selection, replay } }),
      rerun: rerunCommand('verify', given, context.env),
    },
  };
}

function checkReplay(path: string, requirements: readonly Requirement[]): void {
  const [requirement, another] = requirements;
  if (requirement === undefined || another !== undefined)
    throw wrongUsage('--replay needs --only with one requirement');
  if (requirement.kind === 'scenario' || requirement.kind === 'monitor')
    throw wrongUsage(`--replay: ${requirement.id} has no lookups to replay; omit --replay`);
  if (!/^(?:user-status|deposit-check);[^@#]*(?:@\d+(?::\d+)*|#\d+)$/.test(path))
    throw wrongUsage(
      `--replay ${path}: needs a path from a report, such as 'user-status;id spelling=upper case@14:0'`,
    );
}
