import type { Failed, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { aligned, type AlignedLine } from './aligned.ts';
import { alike } from './alike.ts';
import { exchangeLines } from './console-exchange.ts';
import { commandField, field, fieldWidth, proseField } from './console-field.ts';
import { markOf } from './marks.ts';
import type { Paint, Tone } from './palette.ts';
import { printable } from './printable.ts';
import { replayCommand } from './replay-command.ts';
import { count } from './units.ts';
import { wrap } from './wrap.ts';

/** Asked of whoever meets a bug of ours. */
export const OUR_BUG =
  'This is a bug of ib-conformance and says nothing of the target. Please report it, with the record of the run (--report json=run.json).';

/** Columns of an id at most. */
const MOST_ID = 200;

/** The failures: those of required rows first, then those that warn; of many that look alike, some. */
export function failureLines(record: RunRecord, paint: Paint, width: number): readonly string[] {
  const failed = record.requirements.filter((result) => result.outcome === 'failed');
  const inOrder = [
    ...failed.filter(({ level }) => level === 'required'),
    ...failed.filter(({ level }) => level !== 'required'),
  ];
  return alike(inOrder).flatMap(({ shown, rest }) => [
    ...shown.flatMap((result) => [
      ...headingLines(result, paint, width),
      ...(isKnownFailure(result) ? proseField('known', result.baseline, width) : []),
      ...proseField('title', result.title, width),
      ...proseField('clause', result.clause, width),
      ...(result.reading === undefined ? [] : proseField('reading', result.reading, width)),
      ...proseField('aspect', result.aspect, width),
      ...comparisonLines(result, paint, width),
      ...(result.counterexample === undefined ? [] : exchangeLines(result.counterexample, width)),
      ...replayLines(record, result),
    ]),
    ...restLines('more fail alike', shown[0], rest, paint, width),
  ]);
}

/** What came back where it told nothing, in short; where another row tells it, that is enough. */
export function inconclusiveLines(record: RunRecord, paint: Paint, width: number): readonly string[] {
  const open = record.requirements
    .filter((result) => result.outcome === 'inconclusive')
    .filter(({ reason, counterexample }) => counterexample !== undefined && reason !== 'depends');
  return alike(open).flatMap(({ shown, rest }) => [
    ...shown.flatMap((result) => [
      ...headingLines(result, paint, width),
      ...proseField('reason', `${result.reason}: ${result.words}`, width),
      ...(result.counterexample === undefined ? [] : exchangeLines(result.counterexample, width)),
      ...replayLines(record, result),
    ]),
    ...restLines('more could not be judged alike', shown[0], rest, paint, width),
  ]);
}

/** What is not shown, because it looks like what is. */
function restLines(
  what: string,
  like: RequirementResult,
  rest: readonly RequirementResult[],
  paint: Paint,
  width: number,
): readonly string[] {
  if (rest.length === 0) return [];
  const { mark, tone } = markOf(like);
  return [
    '',
    `${paint(tone, mark)} ${paint('loud', `and ${count(rest.length)} ${what}`)}`,
    ...field('ids', wrap(rest.map(({ id }) => printable(id, MOST_ID)).join(', '), fieldWidth(width))),
    ...proseField('replay', 'as above, each with its own --only; the json report has them in full', width),
  ];
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
