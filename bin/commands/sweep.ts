import { sweepFormats } from '../../reports/formats.ts';
import { didYouMean, wrongUsage } from '../../schemas/problem.ts';
import { exitCodes } from '../exit-codes.ts';
import { command, type Values } from './command.ts';
import { duration, file, list, onOff, outputs, wholeNumberOr } from './flags.ts';

const flags = {
  only: { ...list, completions: 'states', describe: 'run only this state' },
  skip: { ...list, completions: 'states', describe: 'skip this state' },
  fixture: { ...file, describe: 'serve this JSON file (default: built-in data)' },
  env: {
    ...list,
    describe: 'rename a variable: NAME=url or NAME=key',
    coerce: (given: readonly string[]) => namesOf(given),
  },
  parallel: { ...wholeNumberOr(1, 1, 64), describe: 'run this many states at once' },
  'max-duration': { ...duration, default: '2m', describe: 'stop a run of the command after this time' },
  'show-output': { ...onOff, describe: 'show the output of the command' },
  report: {
    ...outputs,
    completions: sweepFormats,
    describe: `write a report: ${sweepFormats.join(', ')}, or format=file`,
  },
} as const;

export const sweep = command({
  usage: 'sweep [command..]',
  what: "run your client's own tests against every state of the mock",
  positionals: {
    command: {
      type: 'string',
      default: [],
      coerce: (given: readonly string[]) => given,
      describe: 'command that runs the tests of your client, behind --',
    },
  },
  flags,
  examples: [['$0 sweep -- npm test', 'IB_BASE_URL and IB_API_KEY are set for it']],
  run: async (values, context) => {
    const { sweep: run } = await import('../sweep.ts');
    const { sweepReports } = await import('../../reports/sweep.ts');
    const { loadFixture } = await import('../fixture-file.ts');
    const { parseReports, prepareReports } = await import('../report-files.ts');
    if (values.command.length === 0)
      throw wrongUsage(
        'which command runs the tests of your client? Give it behind --: `ib-conformance sweep -- npm test`',
      );
    const ids = await selected(values);
    const asked = parseReports('report', sweepFormats, values.report, [values.fixture]);
    // The summary is printed unless another report is.
    const isPrinted = asked.some(({ file: place }) => place === undefined);
    const fixture = await loadFixture(values.fixture, context.env);
    const reports = await prepareReports(isPrinted ? asked : [...asked, { format: 'console' }], context);
    try {
      const arePublicKeys = values.fixture === undefined;
      const found = await run({ ...values, ids, fixture, arePublicKeys, names: values.env }, context);
      await reports.write((format, options) => sweepReports[format](found, options));
      return found.interrupted ? exitCodes.interrupted[0] : codes[found.verdict];
    } finally {
      await reports.discard();
    }
  },
});

const codes = {
  ready: exitCodes.conformant[0],
  notReady: exitCodes.nonconformant[0],
  incomplete: exitCodes.incomplete[0],
} as const;

const variables = { url: 'IB_BASE_URL', key: 'IB_API_KEY' } as const;

/** Names of variables by what they hold. */
function namesOf(given: readonly string[]) {
  const named = given.map((text) => {
    const [, name = '', what] = /^([^=]+)=(url|key)$/.exec(text) ?? [];
    if (what === undefined) throw wrongUsage(`--env ${text}: needs NAME=url or NAME=key`);
    return { name, what };
  });
  const namesFor = (what: keyof typeof variables) => {
    const names = named.filter((one) => one.what === what).map(({ name }) => name);
    return names.length === 0 ? [variables[what]] : names;
  };
  return { url: namesFor('url'), key: namesFor('key') };
}

async function selected({ only, skip }: Pick<Values<typeof flags>, 'only' | 'skip'>) {
  const known = [...(await import('../sweep-states.ts')).states.keys()];
  const unknown = [...only, ...skip].find((id) => !known.includes(id));
  if (unknown !== undefined)
    throw wrongUsage(
      `there is no state ${unknown}${didYouMean(unknown, known)} (known: ${known.join(', ')})`,
    );
  const ids = known.filter((id) => (only.length === 0 || only.includes(id)) && !skip.includes(id));
  if (ids.length > 0) return ids;
  throw wrongUsage('--only and --skip leave no state to run');
}
