import { command } from './command.ts';
import { fileArgument, outputs } from './flags.ts';
import { reportFormats } from '../../reports/formats.ts';

export const report = command({
  usage: 'report <file>',
  what: 'render the record of a finished run',
  positionals: { file: fileArgument('file written by `verify --report json=file`') },
  flags: {
    format: {
      ...outputs,
      completions: reportFormats,
      describe: `write this format, or format=file: ${reportFormats.join(', ')} (default: console)`,
    },
  },
  examples: [
    ['$0 report run.json', 'print the summary again'],
    ['$0 report run.json --format junit=junit.xml --format markdown', 'write two formats'],
  ],
  run: async ({ file, format }, context) => {
    const { reports } = await import('../../reports/index.ts');
    const { writeFormats } = await import('../report-files.ts');
    const { loadRecord } = await import('../record-files.ts');
    await writeFormats(format, reports, [file], () => loadRecord(file), context);
    return 0;
  },
});
