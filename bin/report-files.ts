import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { appendFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Render, ReportOptions, ReportName } from '../reports/document.ts';
import { didYouMean, wrongUsage } from '../schemas/problem.ts';
import type { CliContext } from './cli-context.ts';
import { ignoreClosed, describeError, exitCodes } from './exit-codes.ts';
import { prepareFile, type PendingFile } from './output-files.ts';
import { reports, stoppedReports } from '../reports/index.ts';
import { defined } from '../schemas/values.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import { version } from './version.ts';

/** A requested report; without a file, it goes to standard output. */
export interface ReportRequest<Name extends string = string> {
  readonly format: Name;
  readonly file?: string;
}

/**
 * Parses values of a flag: `format` or `format=file`. Each output needs its own destination.
 *
 * @param texts the values; an empty list means `console`
 * @param sources files that are read and must not be overwritten
 * @param log another file that is written
 * @throws Problem with code `usage`
 */
export function parseReports<Name extends string>(
  flag: string,
  known: readonly Name[],
  texts: readonly string[],
  sources: readonly (string | undefined)[] = [],
  log?: string,
): readonly ReportRequest<Name>[] {
  const invalid = (text: string, why: string) => wrongUsage(`--${flag} ${text}: ${why}`);
  const isKnown = (name: string): name is Name => (known as readonly string[]).includes(name);
  const requests = (texts.length === 0 ? ['console'] : texts).map((text): ReportRequest<Name> => {
    const [format = '', ...rest] = text.split('=');
    if (!isKnown(format))
      throw invalid(
        text,
        `there is no format ${format}${didYouMean(format, known)} (known: ${known.join(', ')})`,
      );
    if (rest.length === 0) return { format };
    const file = rest.join('=');
    if (file === '') throw invalid(text, 'the file name after = is missing');
    return { format, file };
  });
  const outputs = [...requests.map(({ file }) => file), ...(log === undefined ? [] : [log])];
  const targets = outputs.map((file) => (file === undefined ? 'standard output' : targetOf(file)));
  const twice = targets.find((place, index) => targets.indexOf(place) !== index);
  if (twice !== undefined)
    throw wrongUsage(`two outputs have the same destination, ${twice}; give each its own file`);
  const source = sources.find((file) => file !== undefined && targets.includes(targetOf(file)));
  if (source !== undefined)
    throw wrongUsage(`an output would overwrite the input ${source}; give it another file`);
  return requests;
}

/** Adds the console report unless another report goes to standard output. */
export const withConsole = (texts: readonly string[]) =>
  texts.some((text) => !text.includes('=')) ? texts : [...texts, 'console'];

/** Returns the path of an existing or future file, with links resolved. */
function targetOf(file: string): string {
  // /dev/stdout and /dev/stderr may be one file; both may be written.
  if (file.startsWith('/dev/')) return file;
  try {
    return realpathSync(file);
  } catch {
    // It does not exist yet.
    return join(targetOf(dirname(resolve(file))), basename(file));
  }
}

/** Checks that every file can be written. Returns the reports, ready to write. */
async function prepareReports<Name extends string>(
  requests: readonly ReportRequest<Name>[],
  context: Pick<CliContext, 'env' | 'print' | 'terminal'>,
) {
  const files = new Map<ReportRequest<Name>, PendingFile>();
  const discard = async () => {
    for (const file of files.values()) await file.discard();
  };
  try {
    for (const request of requests)
      if (request.file !== undefined && !isSummary(request.file, context.env))
        files.set(request, await prepareFile(request.file, 'the report'));
  } catch (error) {
    await discard();
    throw error;
  }
  const print = printerFor(requests, context);
  return {
    /** Deletes incomplete files. */
    discard,
    /**
     * Writes all reports, even if some fail. A closed standard output is no failure. Without a text, a report is left
     * out.
     *
     * @throws AggregateError with every failure
     */
    write: (render: (format: Name, options: ReportOptions) => string | undefined) =>
      settleAll(
        requests.map(async (request) => {
          const file = files.get(request);
          const text = render(
            request.format,
            request.file === undefined ? context.terminal : { color: false, width: 100 },
          );
          if (text === undefined) return;
          if (isSummary(request.file, context.env)) await append(request.file!, text);
          else if (file === undefined) await print(text).catch(ignoreClosed);
          else await file.write(text);
        }),
      ),
  };
}

/** @throws AggregateError with every failure */
export async function settleAll(work: readonly Promise<unknown>[]): Promise<void> {
  const failures = (await Promise.allSettled(work)).flatMap((one) =>
    one.status === 'rejected' ? [one.reason as unknown] : [],
  );
  if (failures.length > 0) throw new AggregateError(failures);
}

/**
 * Renders what `load` returns in every requested format.
 *
 * @param texts values of the flag
 * @param sources files that are read and must not be overwritten
 * @returns the result of `load`
 * @throws Problem with code `usage`
 */
export async function writeFormats<Data>(
  texts: readonly string[],
  formats: Readonly<Record<string, Render<Data>>>,
  sources: readonly (string | undefined)[],
  load: () => Promise<Data>,
  context: CliContext,
  flag = 'format',
): Promise<Data> {
  const { discard, write } = await prepareReports(
    parseReports(flag, Object.keys(formats), texts, sources),
    context,
  );
  try {
    const data = await load();
    await write((format, options) => formats[format]!(data, options));
    return data;
  } finally {
    await discard();
  }
}

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

/** GitHub's limit for the summary of a step, in bytes. */
const MAX_SUMMARY_BYTES = 2 ** 20;

const isGithubActions = (env: CliContext['env']) => env['GITHUB_ACTIONS'] === 'true';

const printedFormat = (requests: readonly ReportRequest[]) =>
  requests.find(({ file }) => file === undefined)?.format;

/** Returns a print function. On GitHub Actions, it disables workflow commands in a console report. */
export function printerFor(
  requests: readonly ReportRequest[],
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
  requests: readonly ReportRequest[],
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

/** Whether a report is to go to the summary of the step: it is added there, as other commands add theirs. */
const isSummary = (file: string | undefined, env: CliContext['env']): boolean =>
  file !== undefined && file === env['GITHUB_STEP_SUMMARY'];

/** Appends to the summary, which other commands of the step may use. */
async function append(file: string, text: string): Promise<void> {
  const { size } = await stat(file).catch(() => ({ size: 0 }));
  if (size + Buffer.byteLength(text) > MAX_SUMMARY_BYTES)
    throw wrongUsage('it would exceed the 1 MiB limit of GitHub');
  await appendFile(file, text);
}
