import { clockModes, sessionDefaults } from '../../mock/options.ts';
import { gradeFormats } from './report-formats.ts';
import { command } from './command.ts';
import { config, file, list, number, onOff, outputs, text } from './flags.ts';

export const mock = command({
  usage: 'mock',
  what: 'run the reference server over fixture data',
  flags: {
    port: { ...number, default: '4010', describe: 'port to listen on; 0 takes a free one' },
    host: { ...text, default: '127.0.0.1', describe: 'address to listen on' },
    'base-path': { isRare: true, ...text, default: '/', describe: 'path of {base_url}' },
    fixture: {
      ...file,
      describe: 'JSON file of data (default: built in)',
    },
    limits: {
      type: 'string',
      choices: ['on', 'off'],
      default: 'on',
      requiresArg: true,
      describe: 'whether rate limiters work',
    },
    fault: { ...text, completions: 'faults', describe: 'deviate in one way; `list` lists them' },
    variant: {
      ...text,
      completions: 'variants',
      describe: 'answer in another legal way; or `list`',
    },
    chaos: {
      ...list,
      describe: 'what goes wrong, how often: 500:0.1, reset:0.02, timeout, truncate, slow:200ms..2s',
    },
    'chaos-seed': {
      isRare: true,
      ...number,
      default: String(sessionDefaults.chaosSeed),
      describe: 'whole number that decides which requests --chaos befalls',
    },
    delay: { isRare: true, ...number, default: '0', describe: 'ms that every answer is held back' },
    scorecard: {
      isRare: true,
      ...outputs,
      completions: gradeFormats,
      describe: 'format or format=file (json, junit, text): grades the clients at the end',
    },
    watch: { ...onOff, describe: 'load the fixture again when it changes' },
    clock: {
      type: 'string',
      choices: clockModes,
      default: 'real',
      requiresArg: true,
      describe: 'poll: a second on with each poll of a pending deposit',
    },
    journal: {
      isRare: true,
      ...number,
      default: String(sessionDefaults.journal),
      describe: 'requests that are kept, of each world',
    },
    'max-worlds': {
      isRare: true,
      ...number,
      default: String(sessionDefaults.maxWorlds),
      describe: 'worlds that keys with ~name may open; past that the least recently used one is dropped',
    },
    'no-admin': { isRare: true, ...onOff, describe: 'leave the admin API out' },
    'admin-port': {
      isRare: true,
      ...number,
      describe: 'port of its own for the admin API; 0 takes a free one',
    },
    'admin-token': {
      isRare: true,
      ...text,
      isSecret: true,
      configurable: 'by variable',
      describe:
        'what callers of the admin API have to present (default: none on loopback, else a new one, printed)',
    },
    'tls-cert': { isRare: true, ...file, describe: 'PEM file of a certificate: serve https' },
    'tls-key': { isRare: true, ...file, describe: 'PEM file of its key' },
    cors: { isRare: true, ...onOff, describe: 'let pages of any origin call the service' },
    log: {
      isRare: true,
      type: 'string',
      choices: ['pretty', 'json', 'silent'],
      default: 'pretty',
      requiresArg: true,
      describe: 'what is printed',
    },
    config,
  },
  configured: { by: 'mock' },
  examples: [
    ['$0 mock', 'serve the built-in fixture'],
    ['$0 mock --fixture f.json', 'serve your data'],
  ],
  run: async (flags, context) => (await import('../mock.ts')).mock(flags, context),
});
