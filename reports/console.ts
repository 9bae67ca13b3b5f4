import {
  MAX_COMMAND,
  MAX_LIST,
  MAX_TEXT,
  headlineText,
  shownSections,
  type Block,
  type Fact,
  type Finding,
  type Item,
  type Report,
  type Step,
  type ReportOptions,
} from './document.ts';
import { alignTexts } from './text-difference.ts';
import {
  columns,
  count,
  hanging,
  padded,
  printable,
  screenOf,
  softChunk,
  wrap,
  type Screen,
} from './text.ts';

/** A longer command would fill the screen. */
const MAX_SHOWN_COMMAND = 2_000;
/** Width of labels, with the indent. */
const LABEL_WIDTH = 12;
/** Maximum columns of the names of a list for alignment. */
const MAX_ALIGNED = 40;
/** Columns of words beside a name; with less room they go below it. */
const MIN_WORDS = 30;

/**
 * Prints a report for a terminal or a log: what is wrong, then the conclusion, and last the next step. Only commands
 * are longer than the width (60 to 200 columns). The only control character is the line break, whatever the texts are.
 */
export function toConsole(report: Report, options: ReportOptions): string {
  const screen = screenOf(options);
  const { width, paint } = screen;
  const { headline } = report;
  const sections = shownSections(report).flatMap(({ title, blocks }) => [
    '',
    ...(title === '' ? [] : hanging(printable(title, MAX_TEXT), width).map((line) => paint('loud', line))),
    ...blocks.flatMap((block, at) => blockLines(block, at, screen)),
  ]);
  const lines = [
    ...hanging(printable(report.about, MAX_TEXT), width).map((line) => paint('quiet', line)),
    ...sections,
    '',
    ...hanging(printable(headlineText(report), MAX_TEXT), width).map((line) =>
      paint('loud', paint(headline.tone, line)),
    ),
    ...report.conclusion.flatMap((block, at) => blockLines(block, at, screen)),
    ...(report.command === undefined ? [] : [`run: ${printable(report.command, MAX_COMMAND)}`]),
    ...(report.next === undefined ? [] : stepLines(report.next, width)),
  ];
  return `${lines.join('\n')}\n`;
}

/** `next: `, and a command on one line, or words. */
export const stepLines = (step: Step, width: number): readonly string[] =>
  'command' in step
    ? [`next: ${printable(step.command, MAX_COMMAND)}`]
    : hanging(`next: ${printable(step.words, MAX_TEXT)}`, width);

function blockLines(block: Block, at: number, screen: Screen): readonly string[] {
  const { paint, width } = screen;
  switch (block.kind) {
    case 'text':
      return hanging(printable(block.text, MAX_LIST), width).map((line) =>
        paint(block.tone ?? 'plain', line),
      );
    case 'list':
      return [
        ...(block.title === undefined
          ? []
          : wrap(printable(block.title, MAX_TEXT), width - 2).map((line) => paint('quiet', `  ${line}`))),
        ...listLines(block.items, screen),
      ];
    case 'matrix':
      return listLines(block.rows, screen);
    case 'timeline':
    case 'trial':
      return [];
    case 'finding':
      return [...(at === 0 ? [] : ['']), ...findingLines(block, screen)];
  }
}

/** Aligns names and words. Words that do not fit beside the name, or beside most others, go below it. */
function listLines(
  items: readonly Pick<Item, 'mark' | 'tone' | 'name' | 'words' | 'lines' | 'fix'>[],
  { paint, width }: Screen,
): readonly string[] {
  const names = items.map(({ name }) => printable(name, width - 4));
  const column = Math.min(MAX_ALIGNED, Math.max(0, ...names.map(columns)));
  const areLong = names.filter((name) => columns(name) > MAX_ALIGNED).length > names.length / 2;
  return items.flatMap(({ mark, tone, words, lines = [], fix }, at) => {
    const name = names[at]!;
    const start = `  ${paint(tone, mark)} `;
    const wrapped = (room: number) =>
      [words, ...lines, ...(fix === undefined ? [] : [`→ ${fix}`])].flatMap((text) =>
        wrap(printable(text, MAX_LIST), room),
      );
    if (wrapped(width).length === 0) return [start + name];
    const indent = column + 6;
    if (areLong || columns(name) > column || width - indent < MIN_WORDS)
      return [start + name, ...wrapped(width - 6).map((line) => ' '.repeat(6) + paint(tone, line))];
    const [first = '', ...more] = wrapped(width - indent);
    return [
      `${start}${padded(name, column)}  ${paint(tone, first)}`,
      ...more.map((line) => ' '.repeat(indent) + paint(tone, line)),
    ];
  });
}

function findingLines({ mark, tone, title, facts }: Finding, screen: Screen): readonly string[] {
  const { paint, width } = screen;
  const [first = '', ...more] = wrap(printable(title, MAX_TEXT), width - 2);
  return [
    `${paint(tone, mark)} ${paint('loud', first)}`,
    ...more.map((line) => `  ${paint('loud', line)}`),
    ...facts.flatMap((fact) => factLines(fact, screen)),
  ];
}

/** Expected and actual are aligned; a command is one line, so that it can be copied. */
function factLines(fact: Fact, { paint, width }: Screen): readonly string[] {
  const room = width - LABEL_WIDTH;
  if (fact.kind === 'comparison')
    return alignTexts(fact.expected, fact.actual, room).flatMap(({ label: name, text: line }, at, all) =>
      labelled(name === all[at - 1]?.label ? '' : name, [paint(name === 'expected' ? 'good' : 'bad', line)]),
    );
  const { kind, label, text } = fact;
  if (kind === 'command')
    return text.length <= MAX_SHOWN_COMMAND
      ? labelled(label, [printable(text, MAX_COMMAND)])
      : labelled(
          label,
          wrap(`too long to show (${count(text.length)} characters): see another report`, room),
        );
  return labelled(
    label,
    kind === 'prose'
      ? wrap(printable(text, MAX_LIST), room)
      : softChunk(printable(text, MAX_TEXT), room).map((line) => line.trimEnd()),
  );
}

const labelled = (label: string, lines: readonly string[]): readonly string[] =>
  lines.map((line, at) => `  ${at === 0 ? label : ''}`.padEnd(LABEL_WIDTH) + line);
