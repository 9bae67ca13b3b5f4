import { renderBadge } from './badge.ts';
import { renderConsole } from './console.ts';
import { renderDiffConsole, renderDiffJson, renderDiffMarkdown } from './diff-reports.ts';
import type { Comparison } from './diff.ts';
import type { comparisonFormats, Render, ReportName } from './formats.ts';
import { renderGithub } from './github.ts';
import { renderHtml } from './html/page.ts';
import { renderJson } from './json.ts';
import { renderJunit } from './junit.ts';
import { renderMarkdown } from './markdown.ts';

export { compare, type Comparison } from './diff.ts';
export type { ReportName, ReportOptions } from './formats.ts';
export { NO_BADGE, whyNoBadge } from './badge.ts';
export { narrowedBy } from './strength.ts';
export { checkupStep, renderCheckup, renderGaps } from './checkup.ts';
export { renderJson, safeJson } from './json.ts';
export { renderFailing, renderPlan, renderProgress, renderWaiting } from './progress.ts';
export { renderVerdict } from './verdict.ts';

/** Every format of a report. */
export const reports = {
  console: renderConsole,
  html: renderHtml,
  json: renderJson,
  junit: renderJunit,
  markdown: renderMarkdown,
  github: renderGithub,
  badge: renderBadge,
} as const satisfies Record<ReportName, Render>;

/** Every format of a comparison of two runs. */
export const comparisons = {
  console: renderDiffConsole,
  markdown: renderDiffMarkdown,
  json: renderDiffJson,
} as const satisfies Record<(typeof comparisonFormats)[number], Render<Comparison>>;
