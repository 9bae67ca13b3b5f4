import { command, file, list, onOff, text } from './command.ts';

export const doctor = command({
  usage: 'doctor <url>',
  what: 'look, in seconds and a few requests, whether a server and its fixture are ready for verify',
  positionals: {
    url: { type: 'string', demandOption: true, describe: '{base_url} of the target; may carry a path' },
  },
  flags: {
    fixture: { ...file, describe: 'JSON file that says what is true of the target' },
    partner: {
      ...text,
      describe: 'id of the partner whose key makes the calls (default: that of the first active key)',
    },
    timeout: {
      ...text,
      default: '3000',
      describe: 'ms that an answer may take; all of it takes 5 s at most',
    },
    header: { ...list, describe: "'name: value' to send with every request; may be repeated" },
    ca: { ...file, describe: 'PEM file of certificates to trust' },
    insecure: { ...onOff, describe: 'do not check certificates' },
    'state-url': { ...text, describe: 'URL of the state hook, as for verify' },
    json: { ...onOff, describe: 'as JSON, for programs' },
  },
  examples: [['$0 doctor https://ib.example.com --fixture f.json', 'before the first run']],
  run: async (flags, surroundings) => (await import('../doctor.ts')).doctor(flags, surroundings),
});
