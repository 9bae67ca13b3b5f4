import { command, type Family } from './command.ts';
import { file, onOff, text } from './flags.ts';

const placed = { type: 'string', names: 'file', demandOption: true, describe: 'the fixture' } as const;

const check = command({
  usage: 'check <file>',
  what: 'say what is wrong with a fixture, and what it leaves unchecked',
  positionals: { file: placed },
  run: async (flags, { env, print }) => {
    const { checkFixture } = await import('../fixture-check.ts');
    await print(await checkFixture(flags.file, env));
    return 0;
  },
});

const generate = command({
  usage: 'generate',
  what: 'make a large fixture: every state, values worth testing, always the same for a seed',
  flags: {
    users: { ...text, default: '1000', describe: 'users to make' },
    deposits: { ...text, default: '1000', describe: 'deposits to make' },
    partners: { ...text, default: '2', describe: 'partners to make, each with an active key' },
    seed: { ...text, default: '1', describe: 'whole number that decides every value' },
    'no-becomes': {
      ...onOff,
      describe: 'let no pending deposit become EXECUTED by itself: no database does',
    },
    output: { ...file, describe: 'file to write (default: standard output)' },
  },
  examples: [
    ['$0 fixture generate --output f.json', 'a fixture of a thousand users and deposits'],
    [
      '$0 fixture generate --users 1000000 --deposits 1000000 --seed 7 --output big.json',
      'one that shows how a server does when it is full',
    ],
  ],
  run: async (flags, context) => {
    const { generateFixture } = await import('../fixture-generate.ts');
    await generateFixture(flags, context);
    return 0;
  },
});

const exporting = command({
  usage: 'export <file>',
  what: 'write a fixture as data for the database of your server; it holds the keys',
  positionals: { file: placed },
  flags: {
    format: {
      type: 'string',
      choices: ['sql', 'csv', 'ndjson'],
      demandOption: true,
      requiresArg: true,
      describe: 'sql for PostgreSQL and SQLite; csv, a file for each table; ndjson, an object a line',
    },
    output: { ...file, describe: 'file to write (default: standard output); for csv a folder' },
  },
  examples: [
    ['$0 fixture export f.json --format sql | psql -v ON_ERROR_STOP=1 testdb', 'fill a database'],
    ['$0 fixture export f.json --format csv --output tables', 'a file for each table'],
  ],
  run: async (flags, context) => {
    const { exportFixture } = await import('../fixture-export.ts');
    await exportFixture(flags, context);
    return 0;
  },
});

export const fixture: Family = {
  usage: 'fixture',
  what: 'check, make and export fixture files',
  commands: [check, generate, exporting],
};
