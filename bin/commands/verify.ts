import { reportFormats } from '../../reports/document.ts';
import { Problem, wrongUsage } from '../../schemas/problem.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodeOf } from '../exit-codes.ts';
import { command, type Given, type Values } from './command.ts';
import * as kinds from './flags.ts';
import { openBaseline } from '../baseline.ts';
import { openLog } from '../exchange-log.ts';
import { verifyRun } from '../verify-run.ts';
import { printedCommands, programName } from '../printed-command.ts';
import { runOptions, select } from '../run-options.ts';
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

const WRITES_ONLY = 'it changes what is written, not what is sent';
const target = {
  fixture: kinds.target.fixture,
  partner: kinds.target.partner,
  header: kinds.target.header,
  ...kinds.network,
  wait: kinds.target.wait,
  'state-url': kinds.target['state-url'],
  config: kinds.config,
} as const;

const choice = {
  only: {
    ...kinds.list,
    // A typed --only overrides configured filters.
    overrides: ['skip'],
    describe: 'check only this suite, id, or beginning of ids',
  },
  skip: { ...kinds.list, describe: 'skip this suite, id, or beginning of ids' },
  cases: { ...kinds.wholeNumberOr(defaults.cases, 1, 1_000_000), describe: 'limit the cases per endpoint' },
  seed: {
    ...kinds.seed,
    notRepeated: 'reports add the seed of the record',
    describe: 'set the seed of all random values (default: a new one, printed)',
  },
  replay: {
    ...kinds.text,
    configurable: 'never',
    // A replay is for a person: no baseline, no files. Without --cases, it uses the default.
    overrides: ['baseline', 'report', 'log', 'cases', 'only', 'skip'],
    coerce: (given: string) => replayOf(given),
    describe: 'repeat one failure of a report, with its --seed',
  },
} as const;

const bounds = {
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
  concurrency: {
    ...kinds.wholeNumberFrom(1, 256),
    describe: `send this many requests at once per endpoint (default: ${defaults.concurrency}; in bursts as many as needed)`,
  },
  timeout: kinds.timeoutOr(defaults.timeoutMs),
  grace: {
    ...kinds.duration,
    default: `${defaults.graceMs / 1000}s`,
    describe: 'wait this long until all answers must show a change: 500ms, 5s',
  },
} as const;

const results = {
  report: {
    ...kinds.outputs,
    notRepeated: WRITES_ONLY,
    describe: `write a report: ${reportFormats.join(', ')}, or format=file`,
  },
  verbose: {
    ...kinds.onOff,
    notRepeated: WRITES_ONLY,
    describe: 'print every requirement and what was observed',
  },
  log: {
    ...kinds.file,
    notRepeated: WRITES_ONLY,
    describe: 'write every request and answer to this file: a line of JSON each, without keys',
  },
} as const;

const gate = {
  strict: { ...kinds.onOff, describe: 'fail on recommended requirements, too, and require every level' },
  'allow-incomplete': {
    ...kinds.onOff,
    describe: 'exit with 0 if nothing failed and only data, levels or time were missing',
  },
  baseline: {
    ...kinds.file,
    notRepeated: 'it changes only the verdict, and --replay must show a known failure',
    describe: 'accept the known failures in this JSON file',
  },
  'update-baseline': {
    ...kinds.onOff,
    configurable: 'never',
    notRepeated: WRITES_ONLY,
    describe: 'write the current failures to the baseline file, for you to add reasons',
  },
} as const;

const flags = { ...target, ...choice, ...bounds, ...results, ...gate } as const;

/** Without a URL, `verify` checks the mock. */
interface VerifyFlags extends Values<typeof flags> {
  readonly url: URL | undefined;
}

export const verify = command({
  usage: 'verify [url]',
  what: 'verify a server; without a URL, verify the built-in mock',
  positionals,
  flags,
  groups: {
    Target: target,
    'What to check': choice,
    'Limits of the run': bounds,
    Results: results,
    Gate: gate,
  },
  guide: 'verify.md',
  configured: { section: 'verify' },
  examples: [['$0 verify http://localhost:8080 --fixture f.json', 'your server']],
  run: ({ url, ...values }, context, texts) => {
    if (url === undefined && isSet(context.env['CI']))
      throw wrongUsage(
        'no URL was given. In CI (the variable CI is set), give the URL of the target: as an argument, in IB_CONFORMANCE_URL or in the config file. To verify the built-in mock, run `verify mock`',
      );
    if (url === undefined)
      context.writeError(
        `no URL was given, so this verifies the built-in mock. For a server: ${programName(context.env)} init, or verify http://localhost:8080\n`,
      );
    const filters = values.replay && { only: [values.replay.id], skip: [] };
    return runVerify({ ...values, ...filters, url: url === 'mock' ? undefined : url }, context, texts);
  },
});

const isSet = (variable = '') => !['', '0', 'false'].includes(variable.toLowerCase());

async function runVerify(given: VerifyFlags, context: CliContext, texts: Given): Promise<number> {
  const { writeError } = context;
  const formats = files.withConsole(given.report);
  const sources = [given.fixture, given.baseline];
  const requests = files.parseReports('report', reportFormats, formats, sources, given.log);
  const baseline = await openBaseline(given, context);
  const { fixture, init, options } = await optionsOf(given, context, texts);
  const reportFiles = await runReports(requests, context);
  try {
    const log = given.log === undefined ? undefined : openLog(given.log, writeError);
    const session = { ...given, init };
    const found = await verifyRun(session, fixture, options, log, context).catch(async (error: unknown) => {
      const explained = withStep(error, options.doctor);
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
function withStep(error: unknown, doctor = ''): unknown {
  if (!(error instanceof Problem) || error.code !== 'unreachable') return error;
  return new Problem(error.code, `${error.message}\nnext: ${doctor}`);
}

/** Returns the options of a run. Checks names and paths before it reads the fixture. */
async function optionsOf(given: VerifyFlags, context: CliContext, texts: Given) {
  const { url, stateUrl, replay } = given;
  // The built-in mock has one.
  const hasStateHook = url === undefined || stateUrl !== undefined;
  select(given, hasStateHook);
  if (stateUrl !== undefined && url === undefined) throw wrongUsage('--state-url needs the URL of a target');
  const fixture = await loadFixture(given.fixture, context.env, context);
  const options = runOptions({
    ...given,
    fixture,
    hasStateHook,
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
  const redact = engine.redactor(options.known, options.headers);
  const { init, ...commands } = printedCommands(flags, texts, context.env, redact);
  return {
    fixture,
    init,
    options: {
      ...options,
      ...commands,
      ...(replay?.path !== undefined && { path: replay.path }),
      selection: { ...options.selection, ...(replay && { replay: replay.text }) },
    },
  };
}

/** Reads what a report says to add: an id, and the path of a lookup if there is one. */
function replayOf(text: string) {
  const [, id = '', path] = /^(\S+)(?: (.+))?$/.exec(text) ?? [];
  const row = engine.catalogue.find((one) => one.id === id);
  if (row === undefined || (path !== undefined && !engine.isLookupRow(row)))
    throw wrongUsage(`--replay ${text}: there is no such requirement or lookup; copy it from a report`);
  return { text, id, path };
}
