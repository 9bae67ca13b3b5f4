import type { RunRecord } from '../schemas/generated/types.ts';
import { toConsole } from './console.ts';
import {
  headlineText,
  paragraph,
  type Render,
  type ReportName,
  type ReportOptions,
  type Report,
  type Step,
} from './document.ts';
import { toGithub } from './github.ts';
import { toHtml } from './html/page.ts';
import { renderJson, printable } from './text.ts';
import { renderJunit, junitDocument } from './junit.ts';
import { toMarkdown } from './markdown.ts';
import { runReport } from './run-report.ts';

export type { ReportName, ReportOptions } from './document.ts';
export { checkupStep, renderBriefly, renderCheckup } from './checkup.ts';
export { renderJson, safeJson } from './text.ts';

/** Renders the report for people: short, unless `verbose`. */
function renderConsole(record: RunRecord, options: ReportOptions): string {
  const place = options.file === undefined ? '--verbose shows all' : `all in ${options.file}`;
  return toConsole(runReport(record, options.verbose === true ? undefined : place), options);
}

/** Every format of a report. */
export const reports: Readonly<Record<ReportName, Render>> = {
  console: renderConsole,
  html: (record) => toHtml(runReport(record)),
  json: renderJson,
  junit: renderJunit,
  markdown: (record) => toMarkdown(runReport(record)),
  github: (record) => toGithub(runReport(record, 'the other reports have all')),
};

/** A run that ended before it had a record, such as one of a target that cannot be reached. */
export interface Stopped {
  readonly ending: keyof typeof names;
  /** Why it ended, in lines: more than one if there is a stack. */
  readonly lines: readonly string[];
  readonly next: Step;
  readonly startedAt: string;
  readonly version: string;
}

const names = { unreachable: 'unreachable', bug: 'a bug of ib-conformance' } as const;

const MAX_WORDS = 2_000;
const linesOf = ({ lines }: Stopped) => lines.map((line) => printable(line, MAX_WORDS));

function reportOf(stopped: Stopped): Report {
  const { ending, next, version } = stopped;
  const [numbers = '', ...more] = linesOf(stopped);
  return {
    headline: { words: names[ending], numbers, mark: '!', emoji: '❗', tone: 'ours' },
    about: `ib-conformance ${version}`,
    conclusion: more.map((line) => paragraph(line)),
    next,
    sections: [],
  };
}

/** Reports of a run without a record: one error. Programs that read the record get none. */
export const stoppedReports: Partial<Record<ReportName, (stopped: Stopped) => string>> = {
  html: (stopped) => toHtml(reportOf(stopped)),
  markdown: (stopped) => toMarkdown(reportOf(stopped)),
  github: (stopped) => toGithub(reportOf(stopped)),
  junit: (stopped) => {
    const { ending, startedAt, version } = stopped;
    const lines = linesOf(stopped);
    const message = headlineText(reportOf(stopped));
    const verdict = { name: 'verdict', kind: 'error', type: ending, message, lines } as const;
    return junitDocument([
      { name: 'run', facts: { 'ib-conformance': version }, startedAt, cases: [verdict] },
    ]);
  },
};
