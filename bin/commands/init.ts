import { command } from './command.ts';
import { file, onOff, text } from './flags.ts';

export const init = command({
  usage: 'init',
  what: 'write a first fixture and a config file, by a few questions and a look at your server',
  flags: {
    url: { ...text, describe: '{base_url} of the server; may carry a path' },
    member: { ...text, describe: 'user_id of a user under the IB' },
    executed: { ...text, describe: 'reference_id of an EXECUTED deposit of that user' },
    fixture: { ...file, default: 'fixture.json', describe: 'fixture to write' },
    ca: { ...file, describe: 'PEM file of certificates to trust' },
    insecure: { ...onOff, describe: 'do not check certificates' },
    yes: { ...onOff, describe: 'ask nothing; write the files also where the look finds something wrong' },
    force: { ...onOff, describe: 'write over files that are there already' },
  },
  examples: [
    ['$0 init', 'asks; the key is read without being shown, or from IB_API_KEY, and is written nowhere'],
    ['IB_API_KEY=… $0 init --yes --url http://localhost:8080', 'where nobody can be asked'],
  ],
  run: async (flags, context) => (await import('../init/init.ts')).init(flags, context),
});
