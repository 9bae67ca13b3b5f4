import assert from 'node:assert/strict';
import { test } from 'node:test';
import { command, file, list, onOff, outputs, text } from '../commands/command.ts';
import { commands } from '../commands/index.ts';
import { candidates, type Sources } from './candidates.ts';

const run = async () => 0;
const sources: Sources = {
  commands: [
    command({
      usage: 'look [url]',
      what: 'look at it',
      positionals: { url: { type: 'string', describe: 'where' } },
      flags: {
        from: { ...file, describe: 'a file' },
        note: { ...text, describe: 'free' },
        kind: { ...text, choices: ['plain', 'pretty'], describe: 'how' },
        suite: { ...list, holds: 'suites', describe: 'of the registry' },
        report: { ...outputs, holds: ['json', 'junit'], describe: 'format=file' },
        strict: { ...onOff, describe: 'on or off' },
      },
      run,
    }),
    {
      usage: 'data',
      what: 'of files',
      commands: [
        command({
          usage: 'check <first> <second>',
          what: 'check two',
          positionals: { first: { ...file, describe: '' }, second: { ...file, describe: '' } },
          run,
        }),
      ],
    },
  ],
  wordsOf: async (name) => ['auth', 'valid', 'invalid'].map((word) => ({ word, what: `of ${name}` })),
};

const after = async (line: string) => {
  const words = line.split(' ');
  const found = await candidates(words.slice(0, -1), words.at(-1)!, sources);
  return found.kind === 'file'
    ? `file behind "${found.behind}"`
    : found.words.map(({ word }) => word).join(' ');
};

const flags = '--from --note --kind --suite --report --strict --help';

/** Lines up to the cursor, and what may stand there. */
const lines: Readonly<Record<string, string>> = {
  '': 'look data',
  lo: 'look',
  lok: '',
  '-': '--help --version',
  '--v': '--version',
  'data ': 'check',
  'data c': 'check',
  'data -': '--help --version',
  'none --': '--help --version',
  'data none ': '',
  'look ': flags,
  'look http://x ': flags,
  'look http': '',
  'look --s': '--suite --strict',
  'look --strict --s': '--suite',
  'look --suite auth --s': '--suite --strict',
  'look --note ': '',
  'look --note --strict ': flags.replace('--note ', ''),
  'look --note=x --no': '',
  'look --no-such ': flags,
  'look --constructor ': flags,
  'look --constructor=': '',
  'look --strict http://x --k': '--kind',
  'look --kind ': 'plain pretty',
  'look --kind pr': 'pretty',
  'look --kind=': '--kind=plain --kind=pretty',
  'look --kind=pl': '--kind=plain',
  'look --from ': 'file behind ""',
  'look --from some': 'file behind ""',
  'look --from=some': 'file behind "--from="',
  'look --suite ': 'auth valid invalid',
  'look --suite=': '--suite=auth --suite=valid --suite=invalid',
  'look --suite valid --suite ': 'auth invalid',
  'look --suite=valid --suite=': '--suite=auth --suite=invalid',
  'look --report ': 'json json= junit junit=',
  'look --report json': 'json json=',
  'look --report json=': 'file behind "json="',
  'look --report json=a=b': 'file behind "json="',
  'look --report xml=': '',
  'look --report=ju': '--report=junit --report=junit=',
  'look --report=json=x': 'file behind "--report=json="',
  'data check ': 'file behind ""',
  'data check -': '--help',
  'data check a ': 'file behind ""',
  'data check a b ': '--help',
  '--version ': 'look data',
};

for (const [line, expected] of Object.entries(lines))
  test(`behind "${line}" comes ${expected === '' ? 'nothing' : expected}`, async () =>
    assert.equal(await after(line), expected));

/** Flags whose values nobody can foresee. */
const free: ReadonlySet<string> = new Set(
  [
    'partner cases seed concurrency timeout max-duration max-requests rate header state-url replay url',
    'port host base-path chaos chaos-seed delay journal max-worlds admin-port admin-token',
    'users deposits partners member executed',
  ].flatMap((names) => names.split(' ')),
);

test('every value is known, or known to be free', () => {
  const each = commands.flatMap((one) => ('commands' in one ? one.commands : [one]));
  const values = each.flatMap(({ usage, flags: named, positionals }) =>
    Object.entries({ ...named, ...positionals }).map(([name, flag]) => ({ usage, name, flag })),
  );
  assert.ok(values.length > 60);
  for (const { usage, name, flag } of values) {
    const isKnown = (flag.choices ?? flag.holds ?? flag.names) !== undefined;
    assert.equal(isKnown || flag.type === 'boolean', !free.has(name), `${usage}: ${name}`);
  }
});
