import { command } from './command.ts';
import { file, onOff, outputs } from './flags.ts';
import { reportFormats } from '../../reports/formats.ts';

export const judge = command({
  usage: 'judge <file>',
  what: 'judge a recorded run again, without its target',
  positionals: {
    file: {
      type: 'string',
      names: 'file',
      demandOption: true,
      describe: 'what `verify --report ndjson=file` wrote',
    },
  },
  flags: {
    report: {
      ...outputs,
      completions: reportFormats,
      describe: 'format or format=file, as of verify',
    },
    baseline: { ...file, describe: 'JSON file of known failures, each with its reason: they do not fail it' },
    strict: { ...onOff, describe: 'fail on recommended requirements too' },
    'allow-incomplete': {
      ...onOff,
      describe: 'exit 0 where nothing failed but something could not be judged',
    },
  },
  examples: [
    ['$0 judge run.ndjson', 'the verdict again, by what the catalogue says now'],
    ['$0 judge run.ndjson --report json=run.json', 'and its run record'],
  ],
  run: async (flags, context) => (await import('../judge.ts')).judge(flags, context),
});
