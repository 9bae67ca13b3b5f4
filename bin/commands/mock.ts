import { clockModes } from '../../mock/clock.ts';
import { sessionDefaults } from '../../mock/session-defaults.ts';
import { command, file, list, onOff, outputs, text } from './command.ts';
import { gradeFormats } from './report-formats.ts';

export const mock = command({
  usage: 'mock',
  what: 'run the reference server over fixture data',
  flags: {
    port: { ...text, default: '4010', describe: 'port to listen on; 0 takes a free one' },
    host: { ...text, default: '127.0.0.1', describe: 'address to listen on' },
    'base-path': { ...text, default: '/', describe: 'path of {base_url}' },
    fixture: {
      ...file,
      describe: 'JSON file with partners, keys, users and deposits (default: the built-in one)',
    },
    limits: {
      type: 'string',
      choices: ['on', 'off'],
      default: 'on',
      requiresArg: true,
      describe: 'whether the rate limiters of the fixture work',
    },
    fault: {
      ...text,
      holds: 'faults',
      describe: 'deviate from the interface in one way; `--fault list` lists them',
    },
    variant: {
      ...text,
      holds: 'variants',
      describe: 'answer in another way that the interface allows; `--variant list` lists them',
    },
    chaos: {
      ...list,
      describe:
        'what goes wrong on the way, and how often: 500:0.1 (429, 500 to 599), reset:0.02, timeout, truncate, slow:200ms..2s; may be repeated',
    },
    'chaos-seed': {
      ...text,
      default: String(sessionDefaults.chaosSeed),
      describe: 'whole number that decides which requests --chaos befalls',
    },
    delay: { ...text, default: '0', describe: 'ms that every answer is held back' },
    scorecard: {
      ...outputs,
      holds: gradeFormats,
      describe: 'format or format=file (json, junit, text): grades the clients at the end; may be repeated',
    },
    watch: { ...onOff, describe: 'load the fixture again when its file changes' },
    clock: {
      type: 'string',
      choices: clockModes,
      default: 'real',
      requiresArg: true,
      describe: 'real; frozen until it is moved; poll: a second further with each poll of a pending deposit',
    },
    journal: {
      ...text,
      default: String(sessionDefaults.journal),
      describe: 'requests that are kept, of each world',
    },
    'max-worlds': {
      ...text,
      default: String(sessionDefaults.maxWorlds),
      describe: 'worlds that keys with ~name may open; past that the least recently used one is dropped',
    },
    'no-admin': { ...onOff, describe: 'leave the admin API out' },
    'admin-port': { ...text, describe: 'port of its own for the admin API; 0 takes a free one' },
    'admin-token': {
      ...text,
      isSecret: true,
      describe:
        'what callers of the admin API have to present (default: none on loopback, else a new one, printed)',
    },
    'tls-cert': { ...file, describe: 'PEM file of a certificate: serve https' },
    'tls-key': { ...file, describe: 'PEM file of its key' },
    cors: { ...onOff, describe: 'let pages of any origin call the service' },
    log: {
      type: 'string',
      choices: ['pretty', 'json', 'silent'],
      default: 'pretty',
      requiresArg: true,
      describe: 'what is printed',
    },
  },
  examples: [
    ['$0 mock', 'serve the built-in fixture on port 4010'],
    ['$0 mock --port 0 --fixture f.json --limits off', 'your data, on a free port, without limiters'],
  ],
  run: async (flags, surroundings) => (await import('../mock.ts')).mock(flags, surroundings),
});
