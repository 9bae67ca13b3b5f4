import { renderConsole } from './console.ts';
import type { Render, ReportName } from './formats.ts';
import { renderGithub } from './github.ts';
import { renderHtml } from './html/page.ts';
import { renderJson } from './json.ts';
import { renderJunit } from './junit.ts';
import { renderMarkdown } from './markdown.ts';

export type { ReportName, ReportOptions } from './formats.ts';
export { checkupStep, renderCheckup } from './checkup.ts';
export { renderJson, safeJson } from './json.ts';
export { renderFailing, renderProgress, renderWaiting } from './progress.ts';
export { renderVerdict } from './verdict.ts';

/** Every format of a report. */
export const reports = {
  console: renderConsole,
  html: renderHtml,
  json: renderJson,
  junit: renderJunit,
  markdown: renderMarkdown,
  github: renderGithub,
} as const satisfies Record<ReportName, Render>;
