import { file, list, onOff, text } from './command.ts';

/** Flags that say what is true of a target and how it is reached, whatever is done with it. */
export const target = {
  fixture: { ...file, describe: 'JSON file of what is true of the target' },
  partner: {
    ...text,
    describe: 'id of the partner whose key makes the calls',
  },
  header: {
    ...list,
    isHeader: true,
    describe: "'name: value' to send along",
  },
  ca: { ...file, describe: 'PEM file of certificates to trust' },
  insecure: { ...onOff, describe: 'do not check certificates' },
  'state-url': {
    ...text,
    describe: 'URL of the state hook',
  },
} as const;
