import type { Check, Checkup, Gap } from '../schemas/generated/types.ts';
import { palette, type Paint, type Tone } from './palette.ts';
import { columns, padded, printable } from './printable.ts';
import type { ReportOptions } from './formats.ts';
import { count, duration, several } from './units.ts';
import { hanging, wrap } from './wrap.ts';

/** Narrower, the lines fall apart; wider, nobody reads on. */
const NARROWEST = 60;
const WIDEST = 200;

/** Characters of a text that are shown at most. */
const MOST_WORDS = 600;

/** Columns of a subject that the words are aligned behind. */
const MOST_ALIGNED = 28;

/** Ids of a gap that are named; the rest is counted. */
const MOST_IDS = 6;

const marks = {
  good: { mark: '✓', tone: 'good' },
  bad: { mark: '✗', tone: 'bad' },
  unknown: { mark: '?', tone: 'unsure' },
} as const satisfies Record<Check['outcome'], { readonly mark: string; readonly tone: Tone }>;

/** A look at a target as a checklist: what was found, and under each ✗ what to do about it. */
export function renderCheckup(checkup: Checkup, { color, width: asked }: ReportOptions): string {
  const width = Math.min(WIDEST, Math.max(NARROWEST, asked));
  const paint = palette(color);
  const { target, partner, version, notes, checks } = checkup;
  const title = [
    `target ${printable(target, MOST_WORDS)}`,
    ...(partner === undefined ? [] : [`partner ${printable(partner, MOST_WORDS)}`]),
    `ib-conformance ${printable(version, MOST_WORDS)}`,
  ].join(', ');
  const areas = [...new Set(checks.map(({ area }) => area))];
  const lines = [
    ...hanging(title, width).map((line) => paint('quiet', line)),
    ...areas.flatMap((area) =>
      areaLines(
        area,
        checks.filter((check) => check.area === area),
        paint,
        width,
      ),
    ),
    ...gapLines(checkup, paint, width),
    ...notes.flatMap((note) => ['', ...hanging(`note: ${printable(note, MOST_WORDS)}`, width)]),
    '',
    ...endLines(checkup, paint, width),
  ];
  return `${lines.join('\n')}\n`;
}

function areaLines(area: string, checks: readonly Check[], paint: Paint, width: number): readonly string[] {
  const subjects = checks.map(({ subject }) => printable(subject, MOST_ALIGNED));
  const column = Math.max(...subjects.map((subject) => columns(subject)));
  return [
    '',
    paint('loud', area),
    ...checks.flatMap(({ outcome, words, mend }, at) => {
      const { mark, tone } = marks[outcome];
      const indent = ' '.repeat(column + 6);
      const found = wrap(printable(words, MOST_WORDS), width - indent.length);
      // Said once, under the last of those that it mends.
      const isLast = mend !== checks[at + 1]?.mend;
      const mended =
        mend === undefined || !isLast ? [] : wrap(`→ ${printable(mend, MOST_WORDS)}`, width - indent.length);
      return [
        `  ${paint(tone, mark)} ${padded(subjects[at]!, column)}  ${found[0] ?? ''}`,
        ...[...found.slice(1), ...mended].map((line) => indent + line),
      ];
    }),
  ];
}

/** What a run could not judge, by what it would take. */
function gapLines({ gaps }: Checkup, paint: Paint, width: number): readonly string[] {
  const { mark, tone } = marks.unknown;
  const indented = (text: string) => wrap(text, width - 4).map((line) => `    ${line}`);
  return gaps.length === 0
    ? []
    : [
        '',
        paint('loud', 'what no run can judge with this fixture'),
        ...gaps.flatMap((gap) => {
          const [first = '', ...more] = indented(printable(gap.words, MOST_WORDS));
          return [
            `  ${paint(tone, mark)} ${first.trimStart()}`,
            ...more,
            ...indented(`${several(gap.requirements.length, 'requirement')}: ${named(gap)}`),
            ...indented(`→ ${printable(gap.mend, MOST_WORDS)}`),
          ];
        }),
      ];
}

function named({ requirements }: Gap): string {
  const shown = requirements.slice(0, requirements.length > MOST_IDS ? MOST_IDS - 1 : MOST_IDS);
  const rest = requirements.length - shown.length;
  return [...shown.map((id) => printable(id, MOST_WORDS)), ...(rest === 0 ? [] : [`${rest} more`])].join(
    ', ',
  );
}

const verdicts = {
  well: {
    tone: 'good',
    words: (_, unjudged) =>
      unjudged === 0
        ? 'all is well'
        : `nothing is in the way of a run, which cannot judge ${several(unjudged, 'requirement')}`,
  },
  ill: { tone: 'bad', words: (bad: number) => `${several(bad, 'check')} failed` },
  unreachable: { tone: 'bad', words: () => 'the target cannot be reached' },
} as const satisfies Record<
  Checkup['verdict'],
  { readonly tone: Tone; readonly words: (bad: number, unjudged: number) => string }
>;

/** What a run would take, and what all of it comes to: the last lines. */
function endLines(
  { plan, checks, gaps, verdict, requests, durationMs }: Checkup,
  paint: Paint,
  width: number,
) {
  const { requests: planned, waitMs, answersMs, cutTo } = plan;
  const run = [
    `a run of verify takes about ${several(planned, 'request')}, ${waitMs === 0 ? 'no waiting for limiters that are known' : `${duration(waitMs)} of waiting for limiters`}`,
    ...(answersMs === undefined ? [] : [`${duration(answersMs)} for answers as fast as these`]),
    ...(cutTo === undefined ? [] : [`at most ${several(cutTo, 'input')} a requirement, to fit its time`]),
  ].join(', ');
  const of = (outcome: Check['outcome']) => checks.filter((check) => check.outcome === outcome).length;
  const unjudged = new Set(gaps.flatMap(({ requirements }) => requirements)).size;
  const { tone, words } = verdicts[verdict];
  const tally = `${words(of('bad'), unjudged)}: ${count(of('good'))} ✓, ${count(of('bad'))} ✗, ${count(of('unknown'))} ?, by ${several(requests, 'request')} in ${duration(durationMs)}`;
  return [...hanging(run, width), ...hanging(tally, width).map((line) => paint('loud', paint(tone, line)))];
}
