import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { alignTexts } from './text-difference.ts';
import { byAnswer, factsOf, markOf, type Fact } from './results.ts';
import { chunk, count, printable, wrap, type Screen } from './text.ts';

const MAX_ID = 200;
const LABEL_WIDTH = 15;

/** Renders findings in full. Of a group of similar findings, shows the first and lists the ids of the others. */
export function findingLines(record: RunRecord, results: readonly RequirementResult[], screen: Screen) {
  return byAnswer(results).flatMap(({ first, rest }) => [
    ...headingLines(first, first.id, screen),
    ...factsOf(record, first).flatMap((fact) => renderFact(fact, first, screen)),
    ...restLines(rest, screen),
  ]);
}

function headingLines(result: RequirementResult, heading: string, { paint, width }: Screen) {
  const { mark, tone } = markOf(result);
  return ['', `${paint(tone, mark)} ${paint('loud', printable(heading, width - 2))}`];
}

/** Renders a fact. Expected and actual are aligned; a command is one line, so that it can be copied. */
function renderFact({ label, text, kind }: Fact, result: RequirementResult, screen: Screen) {
  const room = screen.width - LABEL_WIDTH;
  if (label === 'actual') return [];
  if (label === 'expected' && result.outcome === 'failed')
    return alignTexts(result.expected, result.actual, room).flatMap((line) =>
      labelled(line.label, [screen.paint(line.label === 'expected' ? 'good' : 'bad', line.text)]),
    );
  if (kind === 'command') return labelled(label, [text]);
  return labelled(
    label,
    kind === 'prose' ? wrap(text, room) : chunk(text, room).map((line) => line.trimEnd()),
  );
}

function restLines(rest: readonly RequirementResult[], screen: Screen): readonly string[] {
  const [first] = rest;
  if (first === undefined) return [];
  const ids = rest.map(({ id }) => printable(id, MAX_ID)).join(', ');
  return [
    ...headingLines(first, `and ${count(rest.length)} more like this`, screen),
    ...labelled('ids', wrap(ids, screen.width - LABEL_WIDTH)),
    '  The json report lists all of them, each with its replay.',
  ];
}

const labelled = (label: string, lines: readonly string[]): readonly string[] =>
  lines.map((line, at) => `  ${at === 0 ? label : ''}`.padEnd(LABEL_WIDTH) + line);
