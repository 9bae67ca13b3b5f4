import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { aligned } from './aligned.ts';
import { factsOf, type Fact } from './facts.ts';
import { code, fenced, prose } from './markdown-text.ts';
import { markOf } from './marks.ts';

/** Columns of an id, of prose, and of a sentence at most. */
const MOST_ID = 300;
const MOST_PROSE = 600;
const MOST_SENTENCE = 4_000;
/** Columns of a line of a comparison. */
const WIDTH = 110;

const commands: ReadonlySet<string> = new Set(['request', 'replay']);

/** A failure, or our own bug, in full: one block under a heading of its own. */
export function findingBlock(record: RunRecord, result: RequirementResult): string {
  const facts = factsOf(record, result);
  const comparison = result.outcome === 'failed' ? comparisonLines(result.expected, result.actual) : [];
  const isCompared = ({ label }: Fact) => label === 'expected' || label === 'actual';
  return [
    `#### ${markOf(result).mark} ${code(result.id, MOST_ID)}`,
    [
      `- **level** ${result.level}${onlyWarns(result) ? ', this only warns' : ''}`,
      ...facts
        .filter(({ isExact }) => !isExact)
        .map(({ label, text }) => `- **${label}** ${prose(text, MOST_PROSE)}`),
    ].join('\n'),
    ...textBlock([
      ...comparison,
      ...facts
        .filter((fact) => fact.isExact && !isCompared(fact) && !commands.has(fact.label))
        .map(({ label, text }) => label.padEnd(LABEL) + text),
    ]),
    ...facts.filter(({ label }) => commands.has(label)).map(({ text }) => fenced('sh', [text])),
  ].join('\n\n');
}

const onlyWarns = (result: RequirementResult) =>
  result.outcome === 'failed' && result.level !== 'required' && !isKnownFailure(result);

/** Columns of a label. */
const LABEL = 10;

function comparisonLines(expected: string, actual: string): readonly string[] {
  return aligned(expected, actual, WIDTH).map(
    ({ of, text }) => (of === 'mark' ? '' : of).padEnd(LABEL) + text,
  );
}

const textBlock = (lines: readonly string[]) => (lines.length === 0 ? [] : [fenced('text', lines)]);

/** What could not be judged, or was left out, or observed, in an item of a list. */
export function itemOf(result: RequirementResult, words: string, remedy?: string): string {
  const mended = remedy === undefined ? '' : ` **Mended by** ${prose(remedy, MOST_PROSE)}`;
  return `- ${markOf(result).mark} ${code(result.id, MOST_ID)} (${result.level}) ${prose(words, MOST_PROSE)}${mended}`;
}

/** `- **failed** auth/user-status/missing`: what a sentence is about is ours, the rest is the record's. */
export function sentenceItem(sentence: string): string {
  const end = sentence.indexOf(': ');
  return `- **${sentence.slice(0, end)}** ${prose(sentence.slice(end + 2), MOST_SENTENCE)}`;
}
