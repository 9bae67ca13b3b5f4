import { renderBadge } from './badge.ts';
import { renderConsole } from './console.ts';
import { renderDiffConsole, renderDiffJson, renderDiffMarkdown } from './diff-reports.ts';
import type { Comparison } from './diff.ts';
import type { comparisonFormats, Report, ReportName, transcriptFormats } from './formats.ts';
import { renderGithub } from './github.ts';
import { renderHtml } from './html/page.ts';
import { renderJson } from './json.ts';
import { renderJunit } from './junit.ts';
import { renderMarkdown } from './markdown.ts';

export { compare, type Comparison } from './diff.ts';
export type { ReportName, ReportOptions } from './formats.ts';
export { ONLY_WHOLE, unfitForBadge } from './badge.ts';
export { narrowedBy } from './strength.ts';
export { renderCheckup } from './checkup.ts';
export { renderJson, renderLine } from './json.ts';
export { renderPlan, renderProgress } from './progress.ts';
export { renderVerdict } from './verdict.ts';

/** Every format of a report. */
export const reports = {
  console: { what: 'text for people, on a terminal or in a CI log', render: renderConsole },
  html: { what: 'one page to read in a browser: findings, matrix, latencies', render: renderHtml },
  json: { what: 'the run record, for programs', render: renderJson },
  junit: { what: 'test cases for Jenkins, GitLab and other CI servers', render: renderJunit },
  markdown: { what: 'Markdown for the summary of a step on GitHub', render: renderMarkdown },
  github: { what: 'annotations, by commands to GitHub Actions', render: renderGithub },
  badge: { what: 'the endpoint of a shields.io badge, of a whole run only', render: renderBadge },
} as const satisfies Record<ReportName, Report>;

/** What is written while the run goes on. */
export const transcripts = {
  ndjson: { what: 'the transcript, while the run goes on: `ib-conformance judge` judges it again' },
} as const satisfies Record<(typeof transcriptFormats)[number], Pick<Report, 'what'>>;

/** Every format of a comparison of two runs. */
export const comparisons = {
  console: { what: 'text for people', render: renderDiffConsole },
  markdown: { what: 'Markdown short enough for a comment on GitHub', render: renderDiffMarkdown },
  json: { what: 'for programs', render: renderDiffJson },
} as const satisfies Record<(typeof comparisonFormats)[number], Report<Comparison>>;
