import { reportFormats } from '../../reports/formats.ts';
import type { RunRecord } from '../../schemas/generated/types.ts';
import type { CliContext } from '../cli-context.ts';
import { exitCodeOf, exitCodes } from '../exit-codes.ts';
import { command } from './command.ts';
import { file, fileArgument, onOff, outputs } from './flags.ts';

export const judge = command({
  usage: 'judge <file>',
  what: 'evaluate a recorded run again, without its target',
  positionals: { file: fileArgument('file written by `verify --report ndjson=file`') },
  flags: {
    report: {
      ...outputs,
      completions: reportFormats,
      describe: 'write a report: format or format=file, as for verify',
    },
    baseline: { ...file, describe: 'accept the known failures in this JSON file' },
    strict: { ...onOff, describe: 'fail on recommended requirements, too' },
    'allow-incomplete': {
      ...onOff,
      describe: 'exit with 0 if nothing failed but some requirements could not be checked',
    },
  },
  examples: [
    ['$0 judge run.ndjson', 'evaluate with the current requirements'],
    ['$0 judge run.ndjson --report json=run.json', 'write a run record, too'],
  ],
  run: async (flags, context) => {
    const { reports } = await import('../../reports/index.ts');
    const suites = await import('../../suites/index.ts');
    const { writeFormats } = await import('../report-files.ts');
    const { openBaseline } = await import('../baseline.ts');
    const { loadTranscript } = await import('../record-files.ts');
    const { version } = await import('../version.ts');
    const load = async () => {
      const baseline = await openBaseline(flags);
      const transcript = suites.readTranscript(await loadTranscript(flags.file));
      const found = await suites.judgeTranscript(transcript, suites.catalogue, version);
      if (transcript.end !== undefined) await tellChanges(suites.recordedResults(transcript), found, context);
      return baseline.apply(found).record;
    };
    const record = await writeFormats(
      flags.report,
      reports,
      [flags.file, flags.baseline],
      load,
      context,
      'report',
    );
    const code = exitCodeOf({ ...record, interrupted: false }, flags);
    return record.interrupted && code === exitCodes.conformant[0] ? exitCodes.incomplete[0] : code;
  },
});

/** Prints differences from the results of the run itself, for example because the catalogue is newer. */
async function tellChanges(before: RunRecord, after: RunRecord, { writeError, terminal }: CliContext) {
  const { compare, comparisons } = await import('../../reports/index.ts');
  const comparison = compare(before, after);
  if (comparison.changes.every(({ kind }) => kind === 'unchanged' || kind === 'stillFailing')) return;
  const text = comparisons.console(comparison, { ...terminal, color: false });
  writeError(`ib-conformance: some results differ from those of the run:\n${text}`);
}
