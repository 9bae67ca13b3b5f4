import type { RecordedExchange, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { aligned } from './difference.ts';
import { alike, answerWords, markOf, MAX_COMMAND, MAX_TEXT, OUR_BUG } from './results.ts';
import { chunk, count, printable, wrap, type Paint } from './text.ts';
import { replayCommand } from './verdict.ts';

/** Columns of an id in a list at most. */
const MAX_ID = 200;
/** Indent and label before the lines of a field. */
const INDENT = '  ';
const LABEL_WIDTH = 10;

/** The failures: those of required rows first, then those that warn. Of many that look alike, some are shown. */
export function failureLines(record: RunRecord, paint: Paint, width: number): readonly string[] {
  const failed = record.requirements.filter((result) => result.outcome === 'failed');
  const inOrder = [
    ...failed.filter(({ level }) => level === 'required'),
    ...failed.filter(({ level }) => level !== 'required'),
  ];
  return alike(inOrder).flatMap(({ shown, rest }) => [
    ...shown.flatMap((result) => [
      ...headingLines(result, paint, width),
      ...proseField('known', result.baseline, width),
      ...proseField('title', result.title, width),
      ...proseField('clause', result.clause, width),
      ...proseField('reading', result.reading, width),
      ...proseField('aspect', result.aspect, width),
      ...aligned(result.expected, result.actual, fieldWidth(width)).flatMap(({ of, text }) =>
        field(of === 'mark' ? '' : of, [paint(of === 'expected' ? 'good' : 'bad', text)]),
      ),
      ...exchangeLines(result.counterexample, width),
      ...commandField('replay', replayCommand(record, result)),
    ]),
    ...restLines('more fail alike', rest, paint, width),
  ]);
}

/** What came back where nothing could be judged. Rows that only depend on another one are left out. */
export function inconclusiveLines(record: RunRecord, paint: Paint, width: number): readonly string[] {
  const open = record.requirements
    .filter((result) => result.outcome === 'inconclusive')
    .filter(({ reason, counterexample }) => counterexample !== undefined && reason !== 'depends');
  return alike(open).flatMap(({ shown, rest }) => [
    ...shown.flatMap((result) => [
      ...headingLines(result, paint, width),
      ...proseField('reason', `${result.reason}: ${result.words}`, width),
      ...exchangeLines(result.counterexample, width),
      ...commandField('replay', replayCommand(record, result)),
    ]),
    ...restLines('more could not be judged alike', rest, paint, width),
  ]);
}

/** Our own bugs. */
export function brokenLines(record: RunRecord, paint: Paint, width: number): readonly string[] {
  const broken = record.requirements.filter((result) => result.outcome === 'broken');
  return broken.flatMap((result) => [
    ...headingLines(result, paint, width),
    ...proseField('words', result.words, width),
    ...proseField('bug', OUR_BUG, width),
  ]);
}

/** What is not shown, because it looks like what is. */
function restLines(
  what: string,
  rest: readonly RequirementResult[],
  paint: Paint,
  width: number,
): readonly string[] {
  const [first] = rest;
  if (first === undefined) return [];
  const { mark, tone } = markOf(first);
  return [
    '',
    `${paint(tone, mark)} ${paint('loud', `and ${count(rest.length)} ${what}`)}`,
    ...field('ids', wrap(rest.map(({ id }) => printable(id, MAX_ID)).join(', '), fieldWidth(width))),
    ...proseField('replay', 'as above, each with its own --only; the json report has them in full', width),
  ];
}

function headingLines(result: RequirementResult, paint: Paint, width: number): readonly string[] {
  const { mark, tone } = markOf(result);
  const warns = tone === 'warning' && !isKnownFailure(result) ? ': this only warns' : '';
  return [
    '',
    `${paint(tone, mark)} ${paint('loud', printable(result.id, width - 2))}`,
    ...proseField('level', result.level + warns, width),
  ];
}

/** The request as a command, and what came back. */
function exchangeLines(exchange: RecordedExchange | undefined, width: number): readonly string[] {
  if (exchange === undefined) return [];
  const { curl, key, response, trouble } = exchange;
  const request = [
    ...commandField('request', curl),
    ...(key === undefined ? [] : proseField('', `($IB_API_KEY stands for ${key})`, width)),
  ];
  if (response === undefined)
    return [...request, ...proseField('answer', `none: ${trouble ?? 'no reason was recorded'}`, width)];
  const { body } = response;
  const shown = chunk(printable(body, MAX_TEXT), fieldWidth(width)).map((line) => line.trimEnd());
  return [
    ...request,
    ...proseField('answer', answerWords(response), width),
    ...field('', body === '' ? ['(an empty body)'] : shown),
    ...(body.length > MAX_TEXT ? field('', [`(the beginning of ${count(body.length)} characters)`]) : []),
  ];
}

/** Columns that a field leaves to its lines. */
const fieldWidth = (width: number): number => width - INDENT.length - LABEL_WIDTH;

/** Lines under one label, all of them aligned. */
const field = (label: string, lines: readonly string[]): readonly string[] =>
  lines.map((line, at) => INDENT + (at === 0 ? label : '').padEnd(LABEL_WIDTH) + line);

/** A field of words from anywhere: escaped, wrapped, shortened. */
const proseField = (label: string, text: string | undefined, width: number): readonly string[] =>
  text === undefined ? [] : field(label, wrap(printable(text, MAX_TEXT), fieldWidth(width)));

const commandField = (label: string, command: string | undefined): readonly string[] =>
  command === undefined ? [] : commandLines(INDENT + label.padEnd(LABEL_WIDTH), command);

/** A command behind a label, on one line however long, so that it can be copied. */
export function commandLines(label: string, command: string): readonly string[] {
  const shown = printable(command, MAX_COMMAND);
  const remark = `${' '.repeat(label.length)}(escaped or cut: the json report has it whole)`;
  return [label + shown, ...(shown === command ? [] : [remark])];
}
