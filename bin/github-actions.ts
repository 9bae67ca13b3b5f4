import { randomUUID } from 'node:crypto';
import { appendFile, stat } from 'node:fs/promises';
import { wrongUsage } from '../schemas/problem.ts';
import type { CliContext } from './cli-context.ts';
import { ignoreClosed } from './exit-codes.ts';

/** GitHub's limit for the summary of a step, in bytes. */
const MAX_SUMMARY_BYTES = 2 ** 20;

type Requests = readonly { readonly format: string; readonly file?: string }[];

const isGithubActions = (env: CliContext['env']) => env['GITHUB_ACTIONS'] === 'true';

const printedFormat = (requests: Requests) => requests.find(({ file }) => file === undefined)?.format;

/** Returns a print function. On GitHub Actions, it disables workflow commands in a console report. */
export function printerFor(
  requests: Requests,
  { env, print }: Pick<CliContext, 'env' | 'print'>,
): CliContext['print'] {
  if (!isGithubActions(env) || printedFormat(requests) !== 'console') return print;
  // The target, which may have sent parts of the text, cannot guess the token.
  const token = randomUUID();
  return (text) => print(`::stop-commands::${token}\n${text}::${token}::\n`);
}

/**
 * On GitHub Actions, prints annotations and adds the Markdown report to the summary of the step. Writes no
 * report twice, and no annotations if a report for programs goes to standard output.
 *
 * @param render makes a report; undefined if there is none
 */
export async function annotateStep(
  requests: Requests,
  render: (format: 'github' | 'markdown') => string | undefined,
  { env, print, writeError }: CliContext,
): Promise<void> {
  if (!isGithubActions(env)) return;
  const isRequested = (wanted: string) => requests.some(({ format }) => format === wanted);
  const printed = printedFormat(requests) ?? 'console';
  if (!isRequested('github') && printed === 'console')
    await print(render('github') ?? '').catch(ignoreClosed);
  const summary = env['GITHUB_STEP_SUMMARY'] ?? '';
  if (summary === '' || isRequested('markdown')) return;
  try {
    await append(summary, render('markdown') ?? '');
  } catch (error) {
    writeError(`ib-conformance: the summary of the step was not written: ${(error as Error).message}\n`);
  }
}

/** Appends to the summary, which other commands of the step may use. */
async function append(file: string, text: string): Promise<void> {
  const { size } = await stat(file).catch(() => ({ size: 0 }));
  if (size + Buffer.byteLength(text) > MAX_SUMMARY_BYTES)
    throw wrongUsage('it would exceed the 1 MiB limit of GitHub');
  await appendFile(file, text);
}
