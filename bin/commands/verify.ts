import { config } from '../config/flag.ts';
import { defaults } from '../defaults.ts';
import { command, file, list, number, onOff, outputs, text } from './command.ts';
import { reportFormats, transcriptFormats } from './report-formats.ts';
import { target } from './target.ts';

export const verify = command({
  usage: 'verify [url]',
  what: 'verify a server, or the mock where no URL is given',
  positionals: { url: { type: 'string', describe: '{base_url} of the target; may carry a path' } },
  flags: {
    fixture: target.fixture,
    partner: target.partner,
    cases: { ...number, default: String(defaults.cases), describe: 'inputs per requirement' },
    seed: {
      ...number,
      describe: 'whole number that decides every drawn input (default: a new one, printed)',
    },
    concurrency: {
      ...number,
      default: String(defaults.concurrency),
      describe: 'requests at once to an endpoint',
    },
    suite: { ...list, describe: 'check this suite only; may be repeated' },
    only: { ...list, describe: 'check this requirement only; may be repeated' },
    skip: { ...list, describe: 'leave this requirement out; may be repeated' },
    timeout: { ...number, default: String(defaults.timeoutMs), describe: 'ms that an answer may take' },
    'max-duration': {
      ...text,
      default: `${defaults.maxDurationMs / 60_000}m`,
      describe: 'time that the run of a target may take: 90s, 5m, 1h; the mock waits in no time',
    },
    'max-requests': { ...number, describe: 'requests that the run may send (default: no bound)' },
    rate: {
      ...number,
      describe: 'requests a second, at most, such as 20 or 0.5 (default: as fast as they come)',
    },
    plan: {
      ...onOff,
      configurable: 'never',
      describe: 'say what the run would take and what would be cut, and send nothing',
    },
    strict: { ...onOff, describe: 'fail on recommended requirements too' },
    baseline: {
      ...file,
      describe: 'JSON file of known failures, each with its reason: they do not fail the run',
    },
    'update-baseline': {
      ...onOff,
      configurable: 'never',
      describe: 'write what fails now to that file; a new failure waits there for its reason',
    },
    'allow-incomplete': {
      ...onOff,
      describe: 'exit 0 where nothing failed but something could not be judged',
    },
    header: target.header,
    ca: target.ca,
    insecure: target.insecure,
    report: {
      ...outputs,
      describe: `format or format=file (${[...reportFormats, ...transcriptFormats].join(', ')}); may be repeated`,
    },
    'state-url': target['state-url'],
    'no-canary': { ...onOff, describe: 'do not show first, on the mock, that the suites can fail' },
    replay: {
      ...text,
      configurable: 'never',
      // What is tried again is looked at: it judges no baseline, and is no news for a CI server.
      setsAside: ['baseline', 'report'],
      describe: 'with --only and --seed: the one input that a report names',
    },
    config,
  },
  configured: { by: 'verify' },
  examples: [
    ['$0 verify', 'verify the mock'],
    ['$0 verify https://ib.example.com --fixture f.json', 'verify your server'],
    [
      '$0 verify http://localhost:8080 --fixture f.json --suite auth --report json=run.json',
      'one suite, with a record',
    ],
  ],
  run: async (flags, surroundings) => (await import('../verify.ts')).verify(flags, surroundings),
});
