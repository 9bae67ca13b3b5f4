import type { Check, Checkup, Gap } from '../schemas/generated/types.ts';
import type { ReportOptions } from './formats.ts';
import { needWords } from './limits.ts';
import { MAX_COMMAND, MAX_TEXT, runTitle } from './results.ts';
import {
  columns,
  count,
  duration,
  hanging,
  padded,
  compact,
  printable,
  screenOf,
  plural,
  wrap,
  type Screen,
  type Tone,
} from './text.ts';
import { shorten } from './verdict.ts';

/** Maximum columns of a subject. */
const MAX_ALIGNED = 28;
const MAX_IDS = 6;

const marks: Readonly<Record<Check['outcome'], readonly [Tone, mark: string]>> = {
  ok: ['good', '✓'],
  problem: ['bad', '✗'],
  unknown: ['unsure', '?'],
};

const short = (text: string): string => printable(text, MAX_TEXT);

const isProblem = ({ outcome }: Check) => outcome === 'problem';

/** Renders the result of doctor as a checklist, with a fix under each ✗. The worst finding comes first. */
export function renderCheckup(checkup: Checkup, options: ReportOptions): string {
  const screen = screenOf(options);
  const { width, paint } = screen;
  const { notes, checks } = checkup;
  const lines = [
    ...hanging(runTitle(checkup), width).map((line) => paint('quiet', line)),
    ...checkLines(worstFirst(checks), screen),
    ...gapLines(checkup.gaps, screen),
    ...notes.flatMap((note) => ['', ...hanging(`note: ${short(note)}`, width)]),
    '',
    ...summaryLines(checkup, screen),
  ];
  return `${lines.join('\n')}\n`;
}

/** Areas with a problem come before the others, and problems first in their area. */
function worstFirst(checks: readonly Check[]): readonly Check[] {
  const bad = new Set(checks.filter(isProblem).map(({ area }) => area));
  const rank = (check: Check) => Number(!bad.has(check.area)) + Number(!isProblem(check));
  return checks.toSorted((one, other) => rank(one) - rank(other));
}

/** `next: `, and the fix of the worst finding; without one, a command to copy. */
export function checkupStep({ checks }: Checkup, command: string, { width }: ReportOptions): string {
  const fix = checks.find(isProblem)?.fix;
  if (fix === undefined) return `next: ${printable(command, MAX_COMMAND)}\n`;
  return hanging(`next: ${short(fix)}`, screenOf({ color: false, width }).width)
    .map((line) => `${line}\n`)
    .join('');
}

/** Renders checks as a list per area, with a fix under each ✗. */
export function checkLines(
  all: readonly (Omit<Check, 'area'> & { readonly area: string })[],
  { paint, width }: Screen,
): readonly string[] {
  const areas = [...new Set(all.map(({ area }) => area))];
  return areas.flatMap((area) => {
    const checks = all.filter((check) => check.area === area);
    const subjects = checks.map(({ subject }) => printable(subject, MAX_ALIGNED));
    const column = Math.max(...subjects.map(columns));
    const indent = ' '.repeat(column + 6);
    const lines = checks.flatMap(({ outcome, words, fix }, at) => {
      const [first = '', ...more] = wrap(short(words), width - indent.length);
      // Consecutive checks with the same fix show it once.
      const isSaid = fix !== undefined && fix !== checks[at + 1]?.fix;
      const help = isSaid ? wrap(`→ ${short(fix)}`, width - indent.length) : [];
      return [
        `  ${paint(...marks[outcome])} ${padded(subjects[at]!, column)}  ${first}`,
        ...[...more, ...help].map((line) => indent + line),
      ];
    });
    return ['', paint('loud', area), ...lines];
  });
}

/** Renders the requirements that cannot be checked with a fixture, by missing data, the largest gap first. */
function gapLines(gaps: readonly Gap[], { paint, width }: Screen): readonly string[] {
  const indented = (text: string) => wrap(text, width - 4).map((line) => `    ${line}`);
  const linesOf = ({ words, requirements, fix }: Gap) => {
    const [first = '', ...more] = indented(short(words));
    const ids = shorten(requirements.map(short), MAX_IDS).join(', ');
    return [
      `  ${paint(...marks.unknown)} ${first.trimStart()}`,
      ...more,
      ...indented(`${plural(requirements.length, 'requirement')}: ${ids}`),
      ...indented(`→ ${short(fix)}`),
    ];
  };
  const isCut = gaps.some(({ requirements }) => requirements.length > MAX_IDS);
  const place = 'whole lists: gaps in the output of `ib-conformance doctor --json`';
  const bySize = gaps.toSorted((one, other) => other.requirements.length - one.requirements.length);
  return gaps.length === 0
    ? []
    : [
        '',
        paint('loud', 'not checkable with this fixture'),
        ...bySize.flatMap(linesOf),
        ...(isCut ? indented(place) : []),
      ];
}

function summaryLines(checkup: Checkup, { paint, width }: Screen): readonly string[] {
  const { plan, checks, gaps, verdict, requests, durationMs } = checkup;
  const waits =
    plan.waitMs === 0
      ? 'no waiting for known rate limits'
      : `${duration(plan.waitMs)} of waiting for rate limits and changes of data`;
  const run = compact(
    `verify would take about ${plural(plan.requests, 'request')}, ${waits}`,
    plan.answersMs !== undefined && `${duration(plan.answersMs)} of answers at this speed`,
    plan.strength !== undefined && `strength ${plan.strength}`,
    ...(plan.needs ?? []).slice(0, 1).map((need) => needWords(need)),
  ).join(', ');
  const of = (outcome: Check['outcome']) => checks.filter((check) => check.outcome === outcome).length;
  const unjudged = new Set(gaps.flatMap(({ requirements }) => requirements)).size;
  const partly = `ready for verify, but it cannot check ${plural(unjudged, 'requirement')}`;
  const words = {
    ok: unjudged === 0 ? 'ready for verify' : partly,
    problems: `${plural(of('problem'), 'check')} failed`,
    unreachable: of('ok') === 0 ? 'the target cannot be reached' : 'this is another service',
  }[verdict];
  const tally = `${words}: ${count(of('ok'))} of ${plural(checks.length, 'check')} ok (${plural(requests, 'request')} in ${duration(durationMs)})`;
  const tone = verdict === 'ok' ? 'good' : 'bad';
  return [...hanging(run, width), ...hanging(tally, width).map((line) => paint('loud', paint(tone, line)))];
}
