import type { Failed, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { aligned, type AlignedLine } from './aligned.ts';
import { exchangeLines } from './console-exchange.ts';
import { commandField, field, fieldWidth, proseField } from './console-field.ts';
import { markOf } from './marks.ts';
import type { Paint, Tone } from './palette.ts';
import { printable } from './printable.ts';
import { replayCommand } from './replay-command.ts';

/** Asked of whoever meets a bug of ours. */
export const OUR_BUG =
  'This is a bug of ib-conformance and says nothing of the target. Please report it, with the record of the run (--report json=run.json).';

/** Every failure in full: those of required rows first, then those that warn. */
export function failureLines(record: RunRecord, paint: Paint, width: number): readonly string[] {
  const failed = record.requirements.filter((result) => result.outcome === 'failed');
  return [
    ...failed.filter(({ level }) => level === 'required'),
    ...failed.filter(({ level }) => level !== 'required'),
  ].flatMap((result) => [
    ...headingLines(result, paint, width),
    ...(isKnownFailure(result) ? proseField('known', result.baseline, width) : []),
    ...proseField('title', result.title, width),
    ...proseField('clause', result.clause, width),
    ...(result.reading === undefined ? [] : proseField('reading', result.reading, width)),
    ...proseField('aspect', result.aspect, width),
    ...comparisonLines(result, paint, width),
    ...(result.counterexample === undefined ? [] : exchangeLines(result.counterexample, width)),
    ...replayLines(record, result),
  ]);
}

/** What came back where it told nothing, in short. */
export function inconclusiveLines(record: RunRecord, paint: Paint, width: number): readonly string[] {
  return record.requirements.flatMap((result) =>
    result.outcome !== 'inconclusive' || result.counterexample === undefined
      ? []
      : [
          ...headingLines(result, paint, width),
          ...proseField('reason', `${result.reason}: ${result.words}`, width),
          ...exchangeLines(result.counterexample, width),
          ...replayLines(record, result),
        ],
  );
}

/** Our own bugs. */
export function brokenLines(record: RunRecord, paint: Paint, width: number): readonly string[] {
  return record.requirements.flatMap((result) =>
    result.outcome !== 'broken'
      ? []
      : [
          ...headingLines(result, paint, width),
          ...proseField('words', result.words, width),
          ...proseField('bug', OUR_BUG, width),
        ],
  );
}

function headingLines(result: RequirementResult, paint: Paint, width: number): readonly string[] {
  const { mark, tone } = markOf(result);
  return [
    '',
    `${paint(tone, mark)} ${paint('loud', printable(result.id, width - 2))}`,
    ...proseField(
      'level',
      tone === 'warning' && !isKnownFailure(result) ? `${result.level}: this only warns` : result.level,
      width,
    ),
  ];
}

const tones = { expected: 'good', actual: 'bad', mark: 'bad' } as const satisfies Record<
  AlignedLine['of'],
  Tone
>;

function comparisonLines({ expected, actual }: Failed, paint: Paint, width: number): readonly string[] {
  return aligned(expected, actual, fieldWidth(width)).flatMap(({ of, text }) =>
    field(of === 'mark' ? '' : of, [paint(tones[of], text)]),
  );
}

function replayLines(record: RunRecord, result: Parameters<typeof replayCommand>[1]): readonly string[] {
  const command = replayCommand(record, result);
  return command === undefined ? [] : commandField('replay', command);
}
