import type { Failed, RequirementResult } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { bySuite } from './by-suite.ts';
import { markOf } from './marks.ts';
import type { Paint } from './palette.ts';
import { columns, padded, printable } from './printable.ts';
import { count } from './units.ts';
import { wrap } from './wrap.ts';

/** Columns of the words of a row at most. */
const MOST_WORDS = 400;
/** Columns of the longest id that the others are aligned to. */
const MOST_ALIGNED = 48;
/** What stands before the id: indent, mark, space. */
const BEFORE = 4;
const GAP = '  ';
const CASES = 'cases';

type Results = readonly RequirementResult[];

interface Layout {
  /** Columns that an id may take. */
  readonly room: number;
  /** Columns that ids are filled up to. */
  readonly ids: number;
  /** Columns of the numbers of cases. */
  readonly cases: number;
  readonly width: number;
  readonly paint: Paint;
}

/** The results per suite, a row per requirement: mark, id, distinct cases, and what there is to say. */
export function rowLines(results: Results, paint: Paint, width: number): readonly string[] {
  const layout = layoutOf(results, paint, width);
  return [...bySuite(results)].flatMap(([suite, rows]) => [
    '',
    headingOf(suite, layout),
    ...(isLeftOut(rows) ? leftOutLines(rows, layout) : rows.flatMap((row) => linesOf(row, layout))),
  ]);
}

function layoutOf(results: Results, paint: Paint, width: number): Layout {
  const cases = Math.max(CASES.length, ...results.map((result) => count(result.cases).length));
  const room = width - BEFORE - GAP.length - cases;
  const longest = Math.max(0, ...results.map(({ id }) => columns(printable(id, room))));
  return { room, ids: Math.min(longest, MOST_ALIGNED), cases, width, paint };
}

function headingOf(suite: string, { room, ids, cases, paint }: Layout): string {
  const name = padded(printable(suite, room), BEFORE + ids);
  return `${paint('loud', name)}${GAP}${paint('quiet', CASES.padStart(cases))}`;
}

function linesOf(result: RequirementResult, layout: Layout): readonly string[] {
  const isCounted = result.cases > 0 || result.outcome === 'passed';
  const number = (isCounted ? count(result.cases) : '').padStart(layout.cases);
  const head = `${padded(printable(result.id, layout.room), layout.ids)}${GAP}${number}`;
  return withWords(result, head, wordsOf(result), layout);
}

/** Words beside the row where they fit, else below it. */
function withWords(
  result: RequirementResult,
  head: string,
  remark: string,
  { width, paint }: Layout,
): readonly string[] {
  const { mark, tone } = markOf(result);
  const words = printable(remark, MOST_WORDS);
  const start = `${GAP}${paint(tone, mark)} `;
  if (words !== '' && BEFORE + columns(head + GAP + words) <= width) {
    return [start + head + GAP + paint(tone, words)];
  }
  const indent = ' '.repeat(BEFORE + GAP.length);
  return [
    start + head.trimEnd(),
    ...wrap(words, width - indent.length).map((line) => indent + paint(tone, line)),
  ];
}

function wordsOf(result: RequirementResult): string {
  switch (result.outcome) {
    case 'passed':
      return '';
    case 'failed':
      return `${remarkOf(result)}differs in ${result.aspect}`;
    case 'inconclusive':
    case 'excluded':
      return `${result.reason}: ${result.words}`;
    case 'observed':
      return result.words;
    case 'broken':
      return `broken: ${result.words}`;
  }
}

function remarkOf(result: Failed): string {
  if (isKnownFailure(result)) return 'known: ';
  return result.level === 'required' ? '' : 'warning: ';
}

/** Whether a suite was left out as a whole, for one reason: then one line says so. */
function isLeftOut(rows: Results): boolean {
  const reasons = new Set(rows.map((row) => (row.outcome === 'excluded' ? wordsOf(row) : undefined)));
  return rows.length > 1 && reasons.size === 1 && !reasons.has(undefined);
}

function leftOutLines(rows: Results, layout: Layout): readonly string[] {
  return rows.slice(0, 1).flatMap((row) => withWords(row, `all ${rows.length}`, wordsOf(row), layout));
}
