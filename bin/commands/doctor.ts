import { fixtureWarnings } from '../../schemas/fixture.ts';
import { wrongUsage } from '../../schemas/problem.ts';
import { judgedBy } from '../../reports/judgement.ts';
import { exitCodeOf, exitCodeOfCheckup, exitCodes, ignoreClosed } from '../exit-codes.ts';
import { command } from './command.ts';
import { doctorFlags, onOff, target, targetArgument } from './flags.ts';
import { catalogue, examine, isLookupRow, redactor, type RunOptions } from '../../suites/index.ts';
import { checkupStep, renderCheckup, renderJson, reports } from '../../reports/index.ts';
import { networkOf } from '../network.ts';
import { printedCommands } from '../printed-command.ts';
import { runOptions } from '../run-options.ts';
import { loadFixture } from '../input-files.ts';
import { verifyRun } from '../verify-run.ts';

/** One lookup for each required requirement, and nothing else. */
const oneLookupEach: Pick<RunOptions, 'requirements' | 'isEnough' | 'isBrief'> = {
  requirements: catalogue.filter((one) => isLookupRow(one) && one.level === 'required'),
  isEnough: (_failing, _endpoint, rank) => rank !== 'requirement',
  isBrief: true,
};

export const doctor = command({
  usage: 'doctor [url]',
  what: 'check in seconds whether a server is ready for verify',
  guide: 'verify.md',
  positionals: { url: targetArgument },
  flags: {
    ...doctorFlags,
    full: {
      ...onOff,
      configurable: 'never',
      describe: 'send one lookup for each required requirement, and print what verify would',
    },
    json: { ...onOff, describe: 'print JSON' },
  },
  // `doctor` checks the target that `verify` uses.
  configured: { section: 'verify', only: ['url', ...Object.keys(target), 'config'] },
  examples: [['$0 doctor http://localhost:8080 --fixture f.json', 'a first check']],
  run: async (values, context, given) => {
    const { url, timeout: timeoutMs, header: headers, wait: waitMs, json, full, ...flags } = values;
    if (url === undefined)
      throw wrongUsage('doctor needs the URL of a server: give it as an argument or in IB_CONFORMANCE_URL');
    const { signal, print, writeError, terminal } = context;
    const tls = await networkOf(flags, context);
    const fixture = await loadFixture(flags.fixture, context.env, context);
    const options = runOptions({ ...flags, fixture, seed: 1, timeoutMs, waitMs, headers, tls, signal });
    const redact = redactor(options.known, options.headers);
    const { init, ...commands } = printedCommands(doctorFlags, given, context.env, redact);
    if (full) {
      const session = { url, fixture: flags.fixture, init };
      const run = { ...options, ...oneLookupEach, ...commands };
      const found = await verifyRun(session, fixture, run, undefined, context);
      const record = judgedBy(found, { strict: false, allowIncomplete: true });
      await print(json ? renderJson(record) : reports.console(record, terminal)).catch(ignoreClosed);
      return exitCodeOf(record);
    }
    const checkup = await examine({
      ...options,
      target: url,
      fixture,
      onRemark: (words) => writeError(`${words}\n`),
      notes:
        flags.fixture === undefined
          ? ['No --fixture was given, so the target is expected to have the built-in data.']
          : fixtureWarnings(fixture),
    });
    const shown = () => renderCheckup(checkup, terminal) + checkupStep(checkup, commands.rerun, terminal);
    await print(json ? renderJson(checkup) : shown()).catch(ignoreClosed);
    return signal.aborted ? exitCodes.interrupted[0] : exitCodeOfCheckup[checkup.verdict];
  },
});
