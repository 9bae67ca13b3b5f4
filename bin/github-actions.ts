import { randomUUID } from 'node:crypto';
import { appendFile, stat } from 'node:fs/promises';
import { reports } from '../reports/index.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import { unlessClosed } from './closed-pipe.ts';
import type { ReportRequest } from './report-files.ts';
import type { CliContext } from './cli-context.ts';

/** Bytes that GitHub takes for the summary of a step. */
const MOST_SUMMARY = 2 ** 20;

/** What a run does of itself where GitHub Actions runs it. */
export interface GithubActions {
  /** Prints reports: no line of one for people is taken for a command, whatever the target sent. */
  readonly print: CliContext['print'];
  /** Annotates the step and adds to its summary, but for what was asked for as a report. */
  readonly finish: (record: RunRecord) => Promise<void>;
}

/**
 * What GitHub Actions is given without being asked: annotations on standard output, unless a report
 * for programs goes there, and the Markdown report in the summary of the step. Elsewhere nothing.
 */
export function githubActions(
  requests: readonly ReportRequest<string>[],
  { env, print, writeError }: CliContext,
): GithubActions {
  if (env['GITHUB_ACTIONS'] !== 'true') return { print, finish: async () => undefined };
  const printed = requests.find(({ file }) => file === undefined)?.format;
  const isAsked = (wanted: string) => requests.some(({ format }) => format === wanted);
  const mayAnnotate = !isAsked('github') && (printed === undefined || printed === 'console');
  const summary = isAsked('markdown') ? undefined : env['GITHUB_STEP_SUMMARY'];
  return {
    print: printed === 'console' ? (text) => print(withoutCommands(text)) : print,
    finish: async (record) => {
      if (mayAnnotate) await print(reports.github.render(record)).catch(unlessClosed);
      if (summary === undefined || summary === '') return;
      const problem = await addTo(summary, reports.markdown.render(record));
      if (problem !== undefined)
        writeError(`ib-conformance: the summary of the step was not written: ${problem}\n`);
    },
  };
}

/** Text that GitHub Actions looks for no commands in; nobody can guess what ends it. */
function withoutCommands(text: string): string {
  const token = randomUUID();
  return `::stop-commands::${token}\n${text}::${token}::\n`;
}

/** Appends to the summary: what other commands of the step wrote stays. Returns what is wrong where it cannot. */
async function addTo(file: string, text: string): Promise<string | undefined> {
  try {
    const size = await stat(file).then(
      (found) => found.size,
      () => 0,
    );
    if (size + Buffer.byteLength(text) > MOST_SUMMARY)
      return 'it would be larger than the 1 MiB that GitHub takes';
    await appendFile(file, text);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).message;
  }
}
