import type { ReportOptions } from '../reports/index.ts';
import { githubActions } from './github-actions.ts';
import {
  discardOutputs,
  forFile,
  parseFormat,
  prepareOutputs,
  refuseSharedOutputs,
  writeOutputs,
} from './report-files.ts';
import type { CliContext } from './cli-context.ts';

/** Formats by name, of what is rendered; one of them is for people. */
type Formats<Data> = Readonly<
  Record<string, { readonly render: (data: Data, options: ReportOptions) => string }>
>;

/**
 * Renders what `load` gives in the formats that were asked for, each to its file or to standard output.
 *
 * @param texts values of --format: `format` or `format=file`; without one, for people
 * @param sources files that are read, and not to be written over
 * @returns what was rendered
 * @throws Problem with code `usage` where a format is not known, or a report cannot be written
 */
export async function writeFormats<Data>(
  texts: readonly string[],
  formats: Formats<Data>,
  sources: readonly string[],
  load: () => Promise<Data>,
  context: CliContext,
): Promise<Data> {
  const requests = (texts.length === 0 ? ['console'] : texts).map((text) =>
    parseFormat('format', formats, text),
  );
  refuseSharedOutputs('format', requests, sources);
  const data = await load();
  const outputs = await prepareOutputs(requests);
  try {
    const { print } = githubActions(requests, context);
    await writeOutputs(outputs, print, (format, isForFile) =>
      formats[format]!.render(data, isForFile ? forFile : context.terminal),
    );
    return data;
  } finally {
    await discardOutputs(outputs);
  }
}
