import { randomUUID } from 'node:crypto';
import { appendFile, stat } from 'node:fs/promises';
import { reports } from '../reports/index.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import type { CliContext } from './cli-context.ts';
import { unlessClosed } from './exit-codes.ts';

/** Maximum size that GitHub accepts for the summary of a step, in bytes. */
const MAX_SUMMARY_BYTES = 2 ** 20;

type Requests = readonly { readonly format: string; readonly file?: string }[];

const isGithubActions = (env: CliContext['env']) => env['GITHUB_ACTIONS'] === 'true';

const printedFormat = (requests: Requests) => requests.find(({ file }) => file === undefined)?.format;

/** Prints reports. On GitHub Actions, no line of a console report is taken for a workflow command. */
export function printerFor(
  requests: Requests,
  { env, print }: Pick<CliContext, 'env' | 'print'>,
): CliContext['print'] {
  if (!isGithubActions(env) || printedFormat(requests) !== 'console') return print;
  // The text may come from the target, which must not guess the token.
  const token = randomUUID();
  return (text) => print(`::stop-commands::${token}\n${text}::${token}::\n`);
}

/**
 * On GitHub Actions, prints annotations, unless a report for programs goes to standard output, and adds
 * the Markdown report to the summary of the step. Reports that were requested are not written twice.
 */
export async function annotateStep(
  requests: Requests,
  record: RunRecord,
  { env, print, writeError }: CliContext,
): Promise<void> {
  if (!isGithubActions(env)) return;
  const isRequested = (wanted: string) => requests.some(({ format }) => format === wanted);
  const printed = printedFormat(requests) ?? 'console';
  if (!isRequested('github') && printed === 'console')
    await print(reports.github(record)).catch(unlessClosed);
  const summary = env['GITHUB_STEP_SUMMARY'] ?? '';
  if (summary === '' || isRequested('markdown')) return;
  const problem = await append(summary, reports.markdown(record));
  if (problem !== undefined)
    writeError(`ib-conformance: the summary of the step was not written: ${problem}\n`);
}

/** Keeps what other commands of the step wrote. Returns a problem in words. */
async function append(file: string, text: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file).catch(() => ({ size: 0 }));
    if (size + Buffer.byteLength(text) > MAX_SUMMARY_BYTES)
      return 'it would exceed the 1 MiB limit of GitHub';
    await appendFile(file, text);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).message;
  }
}
