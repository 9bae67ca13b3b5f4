import type { Comparison } from '../../reports/index.ts';
import { exitCodes } from '../exit-codes.ts';
import { command } from './command.ts';
import { fileArgument, onOff, outputs } from './flags.ts';
import { comparisonFormats } from '../../reports/formats.ts';

export const diff = command({
  usage: 'diff <before> <after>',
  what: 'show what changed between two runs',
  positionals: {
    before: fileArgument('record of the first run, written by `verify --report json=file`'),
    after: fileArgument('record of the second run'),
  },
  flags: {
    format: {
      ...outputs,
      completions: comparisonFormats,
      describe: `write this format, or format=file: ${comparisonFormats.join(', ')} (default: console)`,
    },
    'allow-incomplete': {
      ...onOff,
      describe: 'exit with 0 if nothing new failed, even if less was checked',
    },
  },
  examples: [
    ['$0 diff main.json branch.json', 'exit with 1 if a required requirement passed before and fails now'],
    ['$0 diff main.json branch.json --format markdown=diff.md', 'for a comment'],
  ],
  run: async ({ before, after, format, allowIncomplete }, context) => {
    const { compare, comparisons } = await import('../../reports/index.ts');
    const { writeFormats } = await import('../report-files.ts');
    const { loadRecord } = await import('../record-files.ts');
    const load = async () => compare(await loadRecord(before), await loadRecord(after));
    const { tendency } = await writeFormats(format, comparisons, [before, after], load, context);
    return tendency === 'less verified' && allowIncomplete ? codes['no regression'] : codes[tendency];
  },
});

const codes = {
  regression: exitCodes.nonconformant[0],
  'less verified': exitCodes.incomplete[0],
  'no regression': exitCodes.conformant[0],
} as const satisfies Record<Comparison['tendency'], number>;
