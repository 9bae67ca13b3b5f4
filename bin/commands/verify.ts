import { defaults } from '../defaults.ts';
import { command, file, list, onOff, outputs, text } from './command.ts';
import { reportFormats, transcriptFormats } from './report-formats.ts';

export const verify = command({
  usage: 'verify [url]',
  what: 'verify a server, or the mock where no URL is given',
  positionals: { url: { type: 'string', describe: '{base_url} of the target; may carry a path' } },
  flags: {
    fixture: { ...file, describe: 'JSON file that says what is true of the target' },
    partner: {
      ...text,
      describe: 'id of the partner whose key makes the calls (default: that of the first active key)',
    },
    cases: { ...text, default: String(defaults.cases), describe: 'inputs per requirement' },
    seed: { ...text, describe: 'whole number that decides every drawn input (default: a new one, printed)' },
    concurrency: {
      ...text,
      default: String(defaults.concurrency),
      describe: 'requests at once to an endpoint',
    },
    suite: { ...list, holds: 'suites', describe: 'check this suite only; may be repeated' },
    only: { ...list, holds: 'requirements', describe: 'check this requirement only; may be repeated' },
    skip: { ...list, holds: 'requirements', describe: 'leave this requirement out; may be repeated' },
    timeout: { ...text, default: String(defaults.timeoutMs), describe: 'ms that an answer may take' },
    'max-duration': {
      ...text,
      default: `${defaults.maxDurationMs / 60_000}m`,
      describe: 'time that the run of a target may take: 90s, 5m, 1h; the mock waits in no time',
    },
    'max-requests': { ...text, describe: 'requests that the run may send (default: no bound)' },
    rate: {
      ...text,
      describe: 'requests a second, at most, such as 20 or 0.5 (default: as fast as they come)',
    },
    plan: { ...onOff, describe: 'say what the run would take and what would be cut, and send nothing' },
    strict: { ...onOff, describe: 'fail on recommended requirements too' },
    baseline: {
      ...file,
      describe: 'JSON file of known failures, each with its reason: they do not fail the run',
    },
    'update-baseline': {
      ...onOff,
      describe: 'write what fails now to that file; a new failure waits there for its reason',
    },
    'allow-incomplete': {
      ...onOff,
      describe: 'exit 0 where nothing failed but something could not be judged',
    },
    header: { ...list, describe: "'name: value' to send with every request; may be repeated" },
    ca: { ...file, describe: 'PEM file of certificates to trust' },
    insecure: { ...onOff, describe: 'do not check certificates' },
    report: {
      ...outputs,
      holds: [...reportFormats, ...transcriptFormats],
      describe: `format or format=file (${[...reportFormats, ...transcriptFormats].join(', ')}); may be repeated`,
    },
    'state-url': {
      ...text,
      describe: 'URL that changes the state of the target on request (README, state hook)',
    },
    'no-canary': { ...onOff, describe: 'do not show first, on the mock, that the suites can fail' },
    replay: { ...text, describe: 'with --only and --seed: the one input that a report names' },
  },
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
