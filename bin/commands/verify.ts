import { defaults } from '../defaults.ts';
import { command } from './command.ts';
import { config, file, list, number, onOff, outputs, target, text } from './flags.ts';
import { reportFormats, transcriptFormats } from '../../reports/formats.ts';

export const verify = command({
  usage: 'verify [url]',
  what: 'verify a server by its {base_url}, or the mock where none is given',
  positionals: {
    url: { type: 'string', describe: '{base_url} of the target; may carry a path' },
  },
  flags: {
    fixture: target.fixture,
    partner: { ...target.partner, isRare: true },
    cases: { ...number, default: String(defaults.cases), describe: 'inputs per requirement' },
    seed: {
      isRare: true,
      ...number,
      describe: 'whole number that decides every drawn input (default: a new one, printed)',
    },
    concurrency: {
      isRare: true,
      ...number,
      default: String(defaults.concurrency),
      describe: 'requests at once to an endpoint',
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
      ...number,
      default: String(defaults.timeoutMs),
      describe: 'ms that an answer may take',
    },
    'max-duration': {
      isRare: true,
      ...text,
      default: `${defaults.maxDurationMs / 60_000}m`,
      describe: 'time that the run of a target may take: 90s, 5m, 1h; the mock waits in no time',
    },
    'max-requests': {
      isRare: true,
      ...number,
      describe: 'requests that the run may send (default: no bound)',
    },
    rate: {
      isRare: true,
      ...number,
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
    header: { ...target.header, isRare: true },
    ca: { ...target.ca, isRare: true },
    insecure: { ...target.insecure, isRare: true },
    report: {
      ...outputs,
      completions: [...reportFormats, ...transcriptFormats],
      describe: `${[...reportFormats, ...transcriptFormats].join(', ')}, or format=file`,
    },
    'state-url': { ...target['state-url'], isRare: true },
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
  },
  configured: { by: 'verify' },
  examples: [['$0 verify', 'verify the mock, to see what comes of it']],
  run: async (flags, context) => (await import('../verify.ts')).verify(flags, context),
});
