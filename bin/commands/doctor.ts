import { wrongUsage } from '../../schemas/problem.ts';
import { exitCodeOfCheckup, exitCodes } from '../exit-codes.ts';
import { command } from './command.ts';
import { config, onOff, target, targetArgument, wholeNumberOr } from './flags.ts';
import { examine, redactor } from '../../suites/index.ts';
import { checkupStep, renderCheckup, renderJson } from '../../reports/index.ts';
import { runOptions, tlsOptions } from '../run-options.ts';
import { loadFixture } from '../fixture-file.ts';
import { rerunCommand } from '../rerun-command.ts';

export const doctor = command({
  usage: 'doctor [url]',
  what: 'check in seconds whether a server is ready for verify',
  positionals: { url: targetArgument },
  flags: {
    ...target,
    timeout: { ...wholeNumberOr(3000, 1, 5000), describe: 'wait at most this many ms for an answer' },
    config,
    json: { ...onOff, describe: 'print JSON' },
  },
  // `doctor` checks the target that `verify` uses.
  configured: { section: 'verify', only: ['url', ...Object.keys(target), 'config'] },
  examples: [['$0 doctor http://localhost:8080 --fixture f.json', 'a first check']],
  run: async ({ url, timeout: timeoutMs, header: headers, json, ...flags }, context) => {
    if (url === undefined)
      throw wrongUsage('doctor needs the URL of a server: give it as an argument or in IB_CONFORMANCE_URL');
    const { signal, print, terminal } = context;
    const tls = await tlsOptions(flags);
    const fixture = await loadFixture(flags.fixture, context.env);
    const options = runOptions({ ...flags, fixture, seed: 1, timeoutMs, headers, tls, signal });
    const checkup = await examine({
      ...options,
      target: url,
      fixture,
      notes:
        flags.fixture === undefined
          ? ['No --fixture was given, so the target is expected to have the built-in data.']
          : [],
    });
    const rerun = rerunCommand('verify', { ...flags, url, header: headers }, context.env);
    const next = redactor(options.known, options.headers)(rerun);
    const shown = () => renderCheckup(checkup, terminal) + checkupStep(checkup, next, terminal);
    await print(json ? renderJson(checkup) : shown());
    return signal.aborted ? exitCodes.interrupted[0] : exitCodeOfCheckup[checkup.verdict];
  },
});
