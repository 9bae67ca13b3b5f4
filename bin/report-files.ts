import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { reports, transcripts, type ReportName } from '../reports/index.ts';
import type { ReportOptions } from '../reports/formats.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import { Problem } from '../schemas/problem.ts';
import { didYouMean } from '../schemas/problem.ts';
import { unlessClosed } from './closed-pipe.ts';
import { prepareFile, type PendingFile } from './pending-file.ts';

/** A report that was asked for; without a file it goes to standard output. */
export interface ReportRequest<Name extends string = ReportName> {
  readonly format: Name;
  readonly file?: string;
}

/** A report that is made of a record, once it is whole. */
export const parseRendered = (text: string) => parseFormat('report', reports, text);

/** Any report of a run. */
export const parseReport = (text: string) => parseFormat('report', { ...reports, ...transcripts }, text);

/**
 * Reads `format` or `format=file`.
 *
 * @param flag whose value the text is
 * @param formats known ones by their names
 * @throws Problem with code `usage`
 */
export function parseFormat<Name extends string>(
  flag: string,
  formats: Readonly<Record<Name, unknown>>,
  text: string,
): ReportRequest<Name> {
  const known = Object.keys(formats);
  const isKnown = (name: string): name is Name => Object.hasOwn(formats, name);
  const [format = '', ...rest] = text.split('=');
  if (!isKnown(format))
    throw new Problem(
      'usage',
      `--${flag} ${text}: there is no format ${format}${didYouMean(format, known)} (known: ${known.join(', ')})`,
    );
  const file = rest.join('=');
  if (rest.length > 0 && file === '')
    throw new Problem('usage', `--${flag} ${text}: the file name is missing behind =`);
  return rest.length === 0 ? { format } : { format, file };
}

/**
 * Every report goes to a place of its own, and to none that something is read from.
 *
 * @param sources files that are read; undefined for one that was not given
 * @throws Problem with code `usage`
 */
export function refuseSharedOutputs(
  flag: string,
  requests: readonly ReportRequest<string>[],
  sources: readonly (string | undefined)[] = [],
): void {
  const places = requests.map(({ file }) => (file === undefined ? 'standard output' : placeOf(file)));
  const twice = places.find((place, index) => places.indexOf(place) !== index);
  if (twice !== undefined)
    throw new Problem('usage', `--${flag}: two reports would be written to ${twice}; give each its own file`);
  const source = sources.find((file) => file !== undefined && places.includes(placeOf(file)));
  if (source !== undefined)
    throw new Problem(
      'usage',
      `--${flag}: a report would be written over ${source}, which is read; give it another file`,
    );
}

/** Where a file is, or will be, whatever links lead there. */
function placeOf(file: string): string {
  // Two that are open may be one file, as standard output and standard error: each is written to all the same.
  if (file.startsWith('/dev/')) return file;
  for (const [folder, name] of [
    [file, ''],
    [dirname(file), basename(file)],
  ] as const)
    try {
      return join(realpathSync(folder), name);
    } catch {
      // There is none yet: it is looked for by its folder.
    }
  return resolve(file);
}

/** A report that was asked for, and the file that waits for it. */
export interface Output<Name extends string = ReportName> extends ReportRequest<Name> {
  readonly pending?: PendingFile;
}

/** Makes all files ready, or none. */
export async function prepareOutputs<Name extends string>(
  requests: readonly ReportRequest<Name>[],
): Promise<readonly Output<Name>[]> {
  const outputs: Output<Name>[] = [];
  try {
    for (const request of requests)
      outputs.push(
        request.file === undefined
          ? request
          : { ...request, pending: await prepareFile(request.file, 'the report') },
      );
    return outputs;
  } catch (error) {
    await discardOutputs(outputs);
    throw error;
  }
}

/** Removes what was not written whole. */
export async function discardOutputs(outputs: readonly Output<string>[]): Promise<void> {
  for (const { pending } of outputs) await pending?.discard();
}

/**
 * Writes all reports: one that cannot be written does not keep the others from being so. A reader of
 * standard output who has seen enough is no failure.
 *
 * @throws AggregateError with every failure
 */
export async function writeOutputs<Name extends string>(
  outputs: readonly Output<Name>[],
  print: (text: string) => Promise<void>,
  textOf: (format: Name, isForFile: boolean) => string,
): Promise<void> {
  const written = await Promise.allSettled(
    outputs.map(async ({ format, pending }) => {
      const text = textOf(format, pending !== undefined);
      await (pending === undefined ? print(text).catch(unlessClosed) : pending.write(text));
    }),
  );
  const failures = written.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  if (failures.length > 0) throw new AggregateError(failures, 'some reports cannot be written');
}

/** A file is read later, nobody knows where. */
export const forFile: ReportOptions = { color: false, width: 100 };

/** What makes a report of a record, for where it goes. */
export const renderedFor =
  (record: RunRecord, terminal: ReportOptions) =>
  (format: ReportName, isForFile: boolean): string =>
    reports[format].render(record, isForFile ? forFile : terminal);
