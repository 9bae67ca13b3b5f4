import type { Level, RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import type { ReportOptions } from './formats.ts';
import {
  byFix,
  bySuite,
  effectiveVerdict,
  factsOf,
  markOf,
  MAX_COMMAND,
  MAX_TEXT,
  outcomes,
  runTitle,
  verdictStyles,
  wordsOf,
  waitWords,
  type Fact,
} from './results.ts';
import { alignTexts } from './text-difference.ts';
import {
  chunk,
  columns,
  count,
  duration,
  hanging,
  padded,
  plural,
  printable,
  screenOf,
  wrap,
} from './text.ts';
import type { Screen, Tone } from './text.ts';
import { conclusion, nextStep } from './verdict.ts';

const MAX_WORDS = 400;
const MAX_SENTENCE = 8_000;
/** A longer command would fill the screen. */
const MAX_SHOWN_COMMAND = 2_000;

/**
 * Renders the report for people: the target, a row per requirement, every failure in full, and last the
 * verdict. Only commands are longer than the width (60 to 200 columns). The only control character is the
 * line break, whatever a target sent.
 */
export function renderConsole(record: RunRecord, options: ReportOptions): string {
  const screen = screenOf(options);
  const { width, paint } = screen;
  const lines = [
    ...hanging(runTitle(record), width).map((line) => paint('quiet', line)),
    ...rowLines(record.requirements, screen),
    ...findingLines(record, findingsIn(record), screen),
    ...remarkLines(record, width),
    ...countLines(record, width),
    ...verdictLines(record, screen),
  ];
  return `${lines.join('\n')}\n`;
}

/** Returns the results to show in full: required failures first, without rows that only depend on another one. */
function findingsIn({ requirements }: RunRecord): readonly RequirementResult[] {
  const failed = requirements.filter(({ outcome }) => outcome === 'failed');
  return [
    ...failed.filter(({ level }) => level === 'required'),
    ...failed.filter(({ level }) => level !== 'required'),
    ...requirements.filter(
      (row) => row.outcome === 'inconclusive' && row.counterexample !== undefined && row.reason !== 'depends',
    ),
    ...requirements.filter(({ outcome }) => outcome === 'broken'),
  ];
}

/** Maximum columns of the ids for alignment. */
const MAX_ALIGNED = 48;
/** Columns before the id: indent, mark, space. */
const BEFORE = 4;
const GAP = '  ';
const CASES = 'cases';

interface Layout extends Screen {
  readonly room: number;
  readonly ids: number;
  readonly cases: number;
}

function rowLines(results: readonly RequirementResult[], screen: Screen): readonly string[] {
  const cases = Math.max(CASES.length, ...results.map((result) => count(result.cases).length));
  const room = screen.width - BEFORE - GAP.length - cases;
  const longest = Math.max(0, ...results.map(({ id }) => columns(printable(id, room))));
  const layout: Layout = { ...screen, room, ids: Math.min(longest, MAX_ALIGNED), cases };
  const heading = (suite: string) => padded(printable(suite, room), BEFORE + layout.ids);
  return [...bySuite(results)].flatMap(([suite, rows]) => [
    '',
    `${screen.paint('loud', heading(suite))}${GAP}${screen.paint('quiet', CASES.padStart(cases))}`,
    ...(isLeftOut(rows)
      ? withWords(rows[0], `all ${rows.length}`, layout)
      : rows.flatMap((row) => resultLines(row, layout))),
  ]);
}

function isLeftOut(rows: readonly RequirementResult[]): boolean {
  const reasons = new Set(rows.map((row) => (row.outcome === 'excluded' ? wordsOf(row) : undefined)));
  return rows.length > 1 && reasons.size === 1 && !reasons.has(undefined);
}

function resultLines(result: RequirementResult, layout: Layout): readonly string[] {
  const isCounted = result.cases > 0 || result.outcome === 'passed';
  const number = (isCounted ? count(result.cases) : '').padStart(layout.cases);
  return withWords(result, padded(printable(result.id, layout.room), layout.ids) + GAP + number, layout);
}

/** Puts the words on the line of the row if they fit, else below it. */
function withWords(result: RequirementResult, head: string, { width, paint }: Layout): readonly string[] {
  const { mark, tone } = markOf(result);
  const warning = isKnownFailure(result) ? 'known: ' : tone === 'warning' ? 'warning: ' : '';
  const words = printable(warning + wordsOf(result), MAX_WORDS);
  const start = `${GAP}${paint(tone, mark)} `;
  if (words !== '' && BEFORE + columns(head + GAP + words) <= width)
    return [start + head + GAP + paint(tone, words)];
  const indent = ' '.repeat(BEFORE + GAP.length);
  return [
    start + head.trimEnd(),
    ...wrap(words, width - indent.length).map((line) => indent + paint(tone, line)),
  ];
}

function remarkLines({ notes }: RunRecord, width: number): readonly string[] {
  const lines = notes.map((note) => `note: ${printable(note, MAX_TEXT)}`);
  return lines.length === 0 ? [] : ['', ...lines.flatMap((line) => hanging(line, width))];
}

function countLines(record: RunRecord, width: number): readonly string[] {
  const { requests, durationMs } = record;
  const effort = `${plural(requests, 'request')} in ${duration(durationMs)}${waitWords(record)}`;
  const levels = ['required', 'recommended', 'observed'] as const satisfies readonly Level[];
  return ['', ...levels.flatMap((level) => tally(record, level)), effort].flatMap((line) =>
    line === '' ? [line] : hanging(line, width),
  );
}

function tally({ requirements }: RunRecord, level: Level): readonly string[] {
  const rows = requirements.filter((row) => row.level === level);
  const parts = outcomes
    .map((outcome) => ({ outcome, number: rows.filter((row) => row.outcome === outcome).length }))
    .filter(({ number }) => number > 0)
    .map(({ outcome, number }) => `${count(number)} ${outcome}`);
  return rows.length === 0 ? [] : [`${count(rows.length)} ${level}: ${parts.join(', ')}`];
}

function toneOf(record: RunRecord): Tone {
  const verdict = effectiveVerdict(record);
  const isKnown = verdict !== record.verdict && verdict !== 'nonconformant';
  return isKnown ? 'warning' : verdictStyles[verdict].tone;
}

/** Maximum ids of each reason for what was not verified: the rows above have all of them. */
const MAX_UNVERIFIED = 3;

function verdictLines(record: RunRecord, { width, paint }: Screen): readonly string[] {
  const [headline = [], ...rest] = conclusion(record, MAX_UNVERIFIED).map((sentence) =>
    hanging(printable(sentence, MAX_SENTENCE), width),
  );
  const step = nextStep(record);
  return [
    '',
    ...headline.map((line) => paint('loud', paint(toneOf(record), line))),
    ...rest.flat(),
    ...('command' in step
      ? [`next: ${printable(step.command, MAX_COMMAND)}`]
      : hanging(`next: ${printable(step.words, MAX_TEXT)}`, width)),
  ];
}

const MAX_ID = 200;
const LABEL_WIDTH = 15;

/** Renders findings in full. Of a group of similar findings, shows the first and lists the ids of the others. */
function findingLines(record: RunRecord, results: readonly RequirementResult[], screen: Screen) {
  return byFix(results).flatMap(({ first, rest }) => [
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
  if (kind === 'command' && text.length <= MAX_SHOWN_COMMAND) return labelled(label, [text]);
  if (kind === 'command') {
    const words = `too long to show (${count(text.length)} characters): replay it, or see the html or json report`;
    return labelled(label, wrap(words, room));
  }
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
    ...labelled('replays', wrap('the json report has each, under requirements', screen.width - LABEL_WIDTH)),
  ];
}

const labelled = (label: string, lines: readonly string[]): readonly string[] =>
  lines.map((line, at) => `  ${at === 0 ? label : ''}`.padEnd(LABEL_WIDTH) + line);
