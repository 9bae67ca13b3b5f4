import { availableParallelism } from 'node:os';
import { sweepFormats } from '../../reports/document.ts';
import { didYouMean, wrongUsage } from '../../schemas/problem.ts';
import { exitCodes } from '../exit-codes.ts';
import { command } from './command.ts';
import { config, duration, file, list, onOff, outputs, wholeNumberFrom } from './flags.ts';
import { sweep as run } from '../sweep.ts';
import { states } from '../sweep/states.ts';
import { sweepReports } from '../../reports/sweep.ts';
import { loadFixture } from '../input-files.ts';
import { withConsole, writeFormats } from '../report-files.ts';
import { rules } from '../sweep/rules.ts';

export const sweep = command({
  usage: 'sweep [command..]',
  what: "run your client's own tests against every state of the mock",
  guide: 'sweep.md',
  positionals: {
    command: {
      type: 'string',
      default: [],
      coerce: (given: readonly string[]) => given,
      describe: 'command that runs the tests of your client, after --',
    },
  },
  flags: {
    only: { ...list, describe: 'run only this state' },
    skip: { ...list, describe: 'skip this state' },
    allow: {
      ...list,
      describe: "accept a broken rule or a failed state: its id, or 'id: reason'",
      coerce: (given: readonly string[]) => new Map(given.map(allowanceOf)),
    },
    fixture: { ...file, describe: 'serve this JSON file (default: built-in data)' },
    env: {
      ...list,
      describe: 'rename a variable: NAME=url or NAME=key',
      coerce: (given: readonly string[]) => variablesOf(given),
    },
    parallel: {
      ...wholeNumberFrom(1, 64),
      describe: 'run this many states at once (default: two a processor)',
    },
    config,
    'max-duration': { ...duration, default: '2m', describe: 'stop a run of the command after this time' },
    'show-output': { ...onOff, describe: 'show the output of the command' },
    strict: { ...onOff, describe: 'fail also if advice is open, or something is unclear' },
    report: {
      ...outputs,
      describe: `write a report: ${sweepFormats.join(', ')}, or format=file`,
    },
  },
  configured: { section: 'sweep', only: ['allow', 'config'] },
  examples: [['$0 sweep -- npm test', 'sets IB_CONFORMANCE_MOCK_URL and _KEY']],
  run: async (values, context) => {
    if (values.command.length === 0)
      throw wrongUsage(
        'give the command that runs the tests of your client after --: `npx ib-conformance sweep -- npm test`',
      );
    const known = [...states.keys()];
    const allowable: readonly string[] = [...rules.map(({ id }) => id), ...known];
    checkIds(values.allow.keys(), allowable, (id) => `--allow ${id}: there is no such rule or state`);
    const { only, skip } = values;
    checkIds([...only, ...skip], known, (id) => `there is no state ${id}`);
    const ids = known.filter((id) => (only.length === 0 || only.includes(id)) && !skip.includes(id));
    if (ids.length === 0) throw wrongUsage('--only and --skip leave no state to run');
    const load = async () => {
      const fixture = await loadFixture(values.fixture, context.env, context);
      const { parallel = Math.min(64, 2 * availableParallelism()) } = values;
      return run({ ...values, parallel, ids, fixture, arePublicKeys: values.fixture === undefined }, context);
    };
    const texts = withConsole(values.report);
    const found = await writeFormats(texts, sweepReports, [values.fixture], load, context, 'report');
    return exitCodes[found.interrupted ? 'interrupted' : codes[found.verdict]][0];
  },
});

const codes = { ready: 'conformant', notReady: 'nonconformant', incomplete: 'incomplete' } as const;

function checkIds(ids: Iterable<string>, known: readonly string[], wordsOf: (id: string) => string): void {
  for (const id of ids)
    if (!known.includes(id))
      throw wrongUsage(`${wordsOf(id)}${didYouMean(id, known)} (known: ${known.join(', ')})`);
}

const defaultNames = { url: 'IB_CONFORMANCE_MOCK_URL', key: 'IB_CONFORMANCE_MOCK_KEY' } as const;

/** Returns the variables of the command, and the value of each. */
function variablesOf(given: readonly string[]) {
  const named = given.map((text) => {
    const [, name = '', what] = /^([^=]+)=(url|key)$/.exec(text) ?? [];
    if (what === undefined) throw wrongUsage(`--env ${text}: needs NAME=url or NAME=key`);
    return [name, what as keyof typeof defaultNames] as const;
  });
  const left = (['url', 'key'] as const).filter((what) => !named.some((one) => one[1] === what));
  return [...named, ...left.map((what) => [defaultNames[what], what] as const)];
}

/** `retry: our policy` → the id and its reason, which may be missing */
function allowanceOf(given: string): readonly [id: string, reason: string] {
  const [, id = '', reason = ''] = /^([^\s:]+(?::[^\s:]+)?)(?:: +(.*))?$/.exec(given) ?? [];
  if (id === '') throw wrongUsage(`--allow ${given}: needs the id of a rule or state, or 'id: reason'`);
  return [id, reason];
}
