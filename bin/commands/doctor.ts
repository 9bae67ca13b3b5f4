import { command } from './command.ts';
import { config, number, onOff, target } from './flags.ts';

export const doctor = command({
  usage: 'doctor [url]',
  what: 'look, in seconds, whether a server and its fixture are ready for verify',
  positionals: {
    url: { type: 'string', describe: '{base_url} of the target; may carry a path' },
  },
  flags: {
    ...target,
    timeout: {
      ...number,
      default: '3000',
      describe: 'ms that an answer may take; all of it takes 5 s at most',
    },
    config,
    json: { ...onOff, describe: 'as JSON, for programs' },
  },
  // What stands in the way of a run, whose target is this one, too.
  configured: { by: 'verify', only: ['url', ...Object.keys(target), 'config'] },
  examples: [['$0 doctor https://ib.example.com --fixture f.json', 'before the first run']],
  run: async (flags, context) => (await import('../doctor.ts')).doctor(flags, context),
});
