import { Problem } from '../../schemas/problem.ts';
import { exitCodeOfCheckup, exitCodes } from '../exit-codes.ts';
import { command } from './command.ts';
import { config, onOff, target, wholeNumberFrom } from './flags.ts';

export const doctor = command({
  usage: 'doctor [url]',
  what: 'look, in seconds, whether a server and its fixture are ready for verify',
  positionals: {
    url: { type: 'string', describe: '{base_url} of the target; may carry a path' },
  },
  flags: {
    ...target,
    timeout: {
      ...wholeNumberFrom(1, 5000),
      default: '3000',
      describe: 'ms that an answer may take; all of it takes 5 s at most',
    },
    config,
    json: { ...onOff, describe: 'as JSON, for programs' },
  },
  // What stands in the way of a run, whose target is this one, too.
  configured: { by: 'verify', only: ['url', ...Object.keys(target), 'config'] },
  examples: [['$0 doctor https://ib.example.com --fixture f.json', 'before the first run']],
  run: async (flags, { env, signal, print, terminal }) => {
    const [{ examine }, { runOptions, trustOf }, { loadFixture }, { renderCheckup, renderJson }, values] =
      await Promise.all([
        import('../../suites/index.ts'),
        import('../run-options.ts'),
        import('../fixture-file.ts'),
        import('../../reports/index.ts'),
        import('../values.ts'),
      ]);
    if (flags.url === undefined)
      throw new Problem('usage', 'doctor: which server? Give its URL, or set IB_URL');
    const url = values.targetUrl(flags.url);
    const headers = values.headerFields(flags.header);
    const stateUrl = flags.stateUrl === undefined ? undefined : values.targetUrl(flags.stateUrl);
    const tls = await trustOf(flags);
    const fixture = await loadFixture(flags.fixture, env);
    const { partner, timeout: timeoutMs } = flags;
    const checkup = await examine({
      ...runOptions({ fixture, partner, seed: 1, timeoutMs, headers, tls, stateUrl, signal }),
      target: url,
      fixture,
      notes:
        flags.fixture === undefined
          ? ['No --fixture was given: the target was taken to hold the built-in one.']
          : [],
    });
    await print(flags.json ? renderJson(checkup) : renderCheckup(checkup, terminal));
    return signal.aborted ? exitCodes.interrupted[0] : exitCodeOfCheckup[checkup.verdict];
  },
});
