import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { compare, comparisons } from '../reports/index.ts';
import type { RunRecord, TranscriptLine } from '../schemas/generated/types.ts';
import validate from '../schemas/generated/transcript.cjs';
import { Problem } from '../schemas/problem.ts';
import { catalogue, judgeTranscript, readTranscript, recordedResults } from '../suites/index.ts';
import { openBaseline } from './baseline-file.ts';
import { diagnose } from './diagnose.ts';
import { exitCodeOf, exitCodes } from './exit-codes.ts';
import { githubActions } from './github-actions.ts';
import {
  discardOutputs,
  parseRendered,
  prepareOutputs,
  refuseSharedOutputs,
  renderedFor,
  writeOutputs,
} from './report-files.ts';
import type { CliContext } from './cli-context.ts';
import { version } from './version.ts';

/** The flags of `judge`, as they were typed. */
export interface JudgeFlags {
  readonly file: string;
  readonly report: readonly string[];
  readonly baseline?: string | undefined;
  readonly strict: boolean;
  readonly allowIncomplete: boolean;
}

/**
 * Judges a recorded run again, without its target, and returns the exit code.
 *
 * @throws Problem with code `usage` where the file is no transcript
 */
export async function judge(flags: JudgeFlags, context: CliContext): Promise<number> {
  const requests = (flags.report.length === 0 ? ['console'] : flags.report).map(parseRendered);
  refuseSharedOutputs('report', requests, [flags.file, flags.baseline]);
  const baseline = await openBaseline({ ...flags, updateBaseline: false });
  const transcript = readTranscript(await linesOf(flags.file));
  const { print } = githubActions(requests, context);
  const outputs = await prepareOutputs(requests);
  try {
    const found = await judgeTranscript(transcript, catalogue, version);
    const suspicions = await diagnose(found, transcript.fixture);
    const diagnosed: RunRecord = suspicions.length === 0 ? found : { ...found, diagnosis: [...suspicions] };
    const { record } = baseline.hold(diagnosed);
    await writeOutputs(outputs, print, renderedFor(record, context.terminal));
    if (transcript.end !== undefined) tellChanges(recordedResults(transcript), diagnosed, context);
    const code = exitCodeOf({ ...record, interrupted: false }, flags);
    return record.interrupted && code === exitCodes.conformant[0] ? exitCodes.incomplete[0] : code;
  } finally {
    await discardOutputs(outputs);
  }
}

/** Says what comes out otherwise than in the run itself, as it does by a newer catalogue. */
function tellChanges(before: RunRecord, after: RunRecord, { writeError, terminal }: CliContext): void {
  const comparison = compare(before, after);
  if (comparison.changes.every(({ kind }) => kind === 'unchanged')) return;
  const text = comparisons.console.render(comparison, { ...terminal, color: false });
  writeError(`ib-conformance: some of it comes out otherwise than in the run itself:\n${text}`);
}

/** A run that was killed may leave half a line at the end: that one is left out. */
async function linesOf(file: string): Promise<readonly TranscriptLine[]> {
  const lines: TranscriptLine[] = [];
  let broken: number | undefined;
  let nth = 0;
  try {
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      nth++;
      if (text === '') continue;
      if (broken !== undefined) throw notALine(file, broken, 'is not JSON');
      let line: unknown;
      try {
        line = JSON.parse(text);
      } catch {
        broken = nth;
        continue;
      }
      if (!validate(line)) throw notALine(file, nth, wordsOf(line));
      lines.push(line);
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem('usage', `${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  if (lines.length === 0)
    throw new Problem(
      'usage',
      `${file}: is empty, or no transcript (\`verify --report ndjson=file\` writes one)`,
    );
  return lines;
}

function notALine(file: string, nth: number, what: string): Problem {
  return new Problem(
    'usage',
    `${file}:${nth}: ${what}; a transcript is what \`verify --report ndjson=file\` writes`,
  );
}

/** What is wrong with a line, by the first thing that the schema finds. */
function wordsOf(line: unknown): string {
  const format = (line as { readonly format?: unknown } | null)?.format;
  if (typeof format === 'string' && format !== 'ib-conformance/transcript/1')
    return `is of the format ${format.slice(0, 60)}, which this version does not know`;
  const [error] = validate.errors ?? [];
  return `${error?.instancePath ?? ''} ${error?.message ?? 'is no line of a transcript'}`.trim();
}
