import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { conclusion } from './conclusion.ts';
import { factsOf } from './facts.ts';
import { printable } from './printable.ts';

/** Columns of an id and of a reason, and of a sentence of the conclusion, at most. */
const MOST = 600;
const MOST_SENTENCE = 8_000;

/**
 * The record in the Test Anything Protocol, version 14: a test point for each requirement. What could
 * not be judged is `not ok`, and so is a run of nothing: no reader shall take either for passed.
 */
export function renderTap(record: RunRecord): string {
  const rows = record.requirements;
  const lines = [
    'TAP version 14',
    `1..${Math.max(1, rows.length)}`,
    ...rows.flatMap((result, at) => pointLines(record, result, at + 1)),
    ...(rows.length === 0 ? ['not ok 1 - nothing was checked'] : []),
    ...conclusion(record).map((sentence) => `# ${printable(sentence, MOST_SENTENCE)}`),
  ];
  return `${lines.join('\n')}\n`;
}

function pointLines(record: RunRecord, result: RequirementResult, number: number): readonly string[] {
  const point = `${number} - ${escaped(printable(result.id, MOST))}`;
  switch (result.outcome) {
    case 'passed':
      return [`ok ${point}`];
    case 'excluded':
      return [`ok ${point} # SKIP ${escaped(printable(`${result.reason}: ${result.words}`, MOST))}`];
    case 'observed':
      return [`ok ${point} # SKIP ${escaped(printable(`observed: ${result.words}`, MOST))}`];
    case 'failed':
    case 'inconclusive':
    case 'broken':
      return [`not ok ${point}`, ...blockLines(record, result)];
  }
}

/** A YAML block; a JSON string is a YAML string. */
function blockLines(record: RunRecord, result: RequirementResult): readonly string[] {
  const facts = [
    ['outcome', result.outcome],
    ['level', result.level],
    ...factsOf(record, result).map(({ label, text }) => [label, text] as const),
  ] as const;
  return [
    '  ---',
    ...facts.map(([label, text]) => `  ${label.replaceAll(' ', '-')}: ${JSON.stringify(text)}`),
    '  ...',
  ];
}

/** What would begin a directive, and what escapes it. */
const escaped = (text: string): string => text.replaceAll(/[\\#]/g, String.raw`\$&`);
