import type { ReportName } from '../reports/document.ts';
import { reports, stoppedReports } from '../reports/index.ts';
import { defined } from '../schemas/defined.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import type { CliContext } from './cli-context.ts';
import { describeError, exitCodes } from './exit-codes.ts';
import { annotateStep } from './github-actions.ts';
import { prepareReports, type ReportRequest } from './report-files.ts';
import { version } from './version.ts';

type Requests = readonly ReportRequest<ReportName>[];

/**
 * Checks that every file can be written. Returns what writes the reports of a run, and what it can do without one.
 *
 * @throws Problem with code `usage` for a file that cannot be written
 */
export async function runReports(requests: Requests, context: CliContext) {
  const { discard, write } = await prepareReports(requests, context);
  return {
    discard,
    /** Writes all reports. On GitHub Actions, also annotates the step, whatever fails. */
    report: async (record: RunRecord, { verbose }: { readonly verbose: boolean }) => {
      const shown = { verbose, ...defined({ file: fileWithAll(requests) }) };
      try {
        await write((format, options) => reports[format](record, { ...options, ...shown }));
      } finally {
        await annotateStep(requests, (format) => reports[format](record, context.terminal), context);
      }
    },
    /** Writes reports about a run that ended without a record. After wrong usage, there was no run. */
    reportStopped: async (error: unknown) => {
      const { code, message } = describeError(error);
      const ending = (['unreachable', 'bug'] as const).find((name) => exitCodes[name][0] === code);
      if (ending === undefined) return;
      const [words = '', command] = message.replaceAll(/^ib-conformance: /gm, '').split('\nnext: ');
      const stopped = {
        ending,
        lines: words.split('\n').slice(ending === 'bug' ? 1 : 0),
        next:
          command === undefined
            ? { words: 'report the bug of ib-conformance with these lines' }
            : { command },
        startedAt: new Date().toISOString(),
        version,
      };
      const render = (format: ReportName) => stoppedReports[format]?.(stopped);
      await write(render);
      await annotateStep(requests, render, context);
    },
  };
}

/** The file that has what the console leaves out. */
const fileWithAll = (requests: Requests) =>
  (['html', 'markdown', 'json', 'junit'] as const)
    .map((name) => requests.find(({ format }) => format === name)?.file)
    .find((file) => file !== undefined);
