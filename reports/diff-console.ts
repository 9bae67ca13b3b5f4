import { conclusion } from './conclusion.ts';
import { failureLines } from './console-findings.ts';
import { changeKinds, changesOf, runName, type Change, type ChangeKind, type Comparison } from './diff.ts';
import { diffConclusion } from './diff-conclusion.ts';
import { changeWords } from './diff-words.ts';
import { markOf } from './marks.ts';
import { palette, type Paint, type Tone } from './palette.ts';
import { printable } from './printable.ts';
import type { ReportOptions } from './formats.ts';
import { hanging, wrap } from './wrap.ts';

/** Narrower, the rows fall apart; wider, nobody reads on. */
const NARROWEST = 60;
const WIDEST = 200;

/** Columns of the words of a row, of the name of a run, of a sentence at most. */
const MOST_WORDS = 400;
const MOST_SENTENCE = 2_000;

const tones = {
  regression: 'bad',
  'less verified': 'unsure',
  'no regression': 'good',
} as const satisfies Record<Comparison['tendency'], Tone>;

/** A comparison of two runs for people: what changed, each newly failing requirement in full, and what it comes to as the last lines. */
export function renderDiffConsole(comparison: Comparison, { color, width: asked }: ReportOptions): string {
  const width = Math.min(WIDEST, Math.max(NARROWEST, asked));
  const paint = palette(color);
  const { before, after, caveats, tendency } = comparison;
  const failing = new Set(changesOf(comparison, 'newlyFailing').map(({ id }) => id));
  const told = (Object.keys(changeKinds) as ChangeKind[]).filter((kind) => kind !== 'unchanged');
  const sentence = (text: string) => hanging(printable(text, MOST_SENTENCE), width);
  const [headline, ...rest] = diffConclusion(comparison);
  const lines = [
    ...[before, after].flatMap((run, at) => [
      ...sentence(`${at === 0 ? 'before' : 'after'}: ${runName(run)}`).map((line) => paint('quiet', line)),
      ...wrap(printable(conclusion(run)[0], MOST_SENTENCE), width - 2).map((line) => `  ${line}`),
    ]),
    ...caveats.flatMap((caveat) => sentence(`note: ${caveat}`)),
    ...told.flatMap((kind) => sectionLines(kind, changesOf(comparison, kind), paint, width)),
    ...failureLines(
      { ...after, requirements: after.requirements.filter(({ id }) => failing.has(id)) },
      paint,
      width,
    ),
    '',
    ...sentence(headline).map((line) => paint('loud', paint(tones[tendency], line))),
    ...rest.flatMap(sentence),
  ];
  return `${lines.join('\n')}\n`;
}

function sectionLines(
  kind: ChangeKind,
  changes: readonly Change[],
  paint: Paint,
  width: number,
): readonly string[] {
  if (changes.length === 0) return [];
  return [
    '',
    paint('loud', changeKinds[kind]),
    ...changes.flatMap((change) => rowLines(change, paint, width)),
  ];
}

const gone = { mark: '–', tone: 'quiet' } as const;

function rowLines(change: Change, paint: Paint, width: number): readonly string[] {
  const { mark, tone } = change.after === undefined ? gone : markOf(change.after);
  return [
    `  ${paint(tone, mark)} ${printable(change.id, width - 4)}`,
    ...wrap(printable(changeWords(change), MOST_WORDS), width - 6).map(
      (line) => `      ${paint(tone, line)}`,
    ),
  ];
}
