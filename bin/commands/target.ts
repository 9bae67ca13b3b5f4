import { file, list, onOff, text } from './command.ts';

/** Flags that say what is true of a target and how it is reached, whatever is done with it. */
export const target = {
  fixture: { ...file, describe: 'JSON file that says what is true of the target' },
  partner: {
    ...text,
    describe: 'id of the partner whose key makes the calls (default: that of the first active key)',
  },
  header: {
    ...list,
    isHeader: true,
    describe: "'name: value' to send with every request; may be repeated",
  },
  ca: { ...file, describe: 'PEM file of certificates to trust' },
  insecure: { ...onOff, describe: 'do not check certificates' },
  'state-url': {
    ...text,
    describe: 'URL that changes the state of the target on request: its state hook',
  },
} as const;
