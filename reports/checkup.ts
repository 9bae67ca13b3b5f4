import type { Check, Checkup } from '../schemas/generated/types.ts';
import { stepLines, toConsole } from './console.ts';
import {
  list,
  paragraph,
  type Item,
  type Mark,
  type Report,
  type Section,
  type ReportOptions,
} from './document.ts';
import { needWords, runTitle } from './run-report.ts';
import { grouped } from './similar.ts';
import { compact, count, duration, plural, screenOf } from './text.ts';
import { additionsBlock } from './unverified.ts';

const marks: Readonly<Record<Check['outcome'], Mark>> = {
  ok: { mark: '✓', tone: 'good' },
  problem: { mark: '✗', tone: 'bad' },
  unknown: { mark: '?', tone: 'unsure' },
};

const isProblem = ({ outcome }: Pick<Check, 'outcome'>) => outcome === 'problem';

/** Renders the result of doctor as a checklist, with a fix after each ✗. The worst finding comes first. */
export const renderCheckup = (checkup: Checkup, options: ReportOptions): string =>
  toConsole(checkupReport(checkup), options);

/** Only what is wrong, and the end: for a command that also did something else. */
export function renderBriefly(checkup: Checkup, options: ReportOptions): string {
  const { sections: _, ...rest } = checkupReport(checkup);
  const sections = checkSections(checkup.checks.filter(isProblem));
  return toConsole({ ...rest, sections }, options);
}

/** `next: `, and the fix of the worst finding; without one, a command to copy. */
export function checkupStep({ checks }: Checkup, command: string, options: ReportOptions): string {
  const fix = checks.find(isProblem)?.fix;
  const { width } = screenOf(options);
  return stepLines(fix === undefined ? { command } : { words: fix }, width)
    .map((line) => `${line}\n`)
    .join('');
}

/** Whether a server is ready for a run. */
export function checkupReport(checkup: Checkup): Report {
  const { gaps, notes, verdict } = checkup;
  const bySize = gaps.toSorted((one, other) => other.requirements.length - one.requirements.length);
  const items = bySize.map(({ words, requirements, fix }): Item => ({
    ...marks.unknown,
    name: words,
    words: `${plural(requirements.length, 'requirement')}: ${requirements.join(', ')}`,
    fix,
  }));
  return {
    headline: { ...headlineOf(checkup), ...marks[verdict === 'ok' ? 'ok' : 'problem'], emoji: '' },
    about: runTitle(checkup),
    conclusion: [
      paragraph(planWords(checkup)),
      ...notes.map((note) => paragraph(`note: ${note}`)),
      ...additionsBlock(verdict === 'ok' ? gaps.filter(({ reason }) => reason !== 'no-state-hook') : []),
    ],
    sections: [
      ...checkSections(worstFirst(checkup.checks)),
      { title: 'Not checkable with this fixture', blocks: list(items) },
    ],
  };
}

/** Areas with a problem come before the others, and problems first in their area. */
function worstFirst(checks: readonly Check[]): readonly Check[] {
  const bad = new Set(checks.filter(isProblem).map(({ area }) => area));
  const rank = (check: Check) => Number(!bad.has(check.area)) + Number(!isProblem(check));
  return checks.toSorted((one, other) => rank(one) - rank(other));
}

/** Makes a section of checks for each area. Consecutive checks with the same fix show it once. */
export const checkSections = (
  checks: readonly (Omit<Check, 'area'> & Pick<Item, 'lines'> & { readonly area: string })[],
): readonly Section[] =>
  [...grouped(checks, ({ area }) => area)].map(([title, some]) => ({
    title,
    blocks: list(
      some.map(({ subject, outcome, words, lines = [], fix }, at) => ({
        ...marks[outcome],
        name: subject,
        words,
        lines,
        ...(fix !== undefined && fix !== some[at + 1]?.fix && { fix }),
      })),
    ),
  }));

function planWords({ plan }: Checkup): string {
  const waits =
    plan.waitMs === 0
      ? 'no waiting for known rate limits'
      : `${duration(plan.waitMs)} of waiting for rate limits and changes of data`;
  return compact(
    `verify would take about ${plural(plan.requests, 'request')}, ${waits}`,
    plan.answersMs !== undefined && `${duration(plan.answersMs)} of answers at this speed`,
    ...(plan.needs ?? []).slice(-1).map((need) => needWords(need)),
  ).join(', ');
}

function headlineOf({ checks, gaps, verdict, requests, durationMs }: Checkup) {
  const of = (outcome: Check['outcome']) => checks.filter((check) => check.outcome === outcome).length;
  const unjudged = new Set(gaps.flatMap(({ requirements }) => requirements)).size;
  const partly = `ready for verify, but it cannot check ${plural(unjudged, 'requirement')}`;
  const isDown = checks.some(({ area, subject }) => area === 'reach' && subject === 'service');
  const other = isDown ? 'the service does not answer' : 'this is another service';
  const words = {
    ok: unjudged === 0 ? 'ready for verify' : partly,
    problems: `${plural(of('problem'), 'check')} failed`,
    unreachable: of('ok') === 0 ? 'the target cannot be reached' : other,
  }[verdict];
  const effort = `${plural(requests, 'request')} in ${duration(durationMs)}`;
  return { words, numbers: `${count(of('ok'))} of ${plural(checks.length, 'check')} ok (${effort})` };
}
