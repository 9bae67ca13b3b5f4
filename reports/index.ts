import type { RunRecord } from '../schemas/generated/types.ts';
import { toConsole } from './console.ts';
import type { Render, ReportName, ReportOptions } from './formats.ts';
import { toGithub } from './github.ts';
import { toHtml } from './html/page.ts';
import { renderJson } from './json.ts';
import { renderJunit } from './junit.ts';
import { toMarkdown } from './markdown.ts';
import { runReport } from './run-report.ts';

export type { ReportName, ReportOptions } from './formats.ts';
export { checkupStep, renderCheckup } from './checkup.ts';
export { stoppedReports } from './stopped.ts';
export { renderJson, safeJson } from './json.ts';
export { renderFailed, renderProgress, renderWaiting } from './progress.ts';

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
