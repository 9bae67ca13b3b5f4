import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { conclusion } from './conclusion.ts';
import { factsOf } from './facts.ts';
import { printable } from './printable.ts';

/** Columns of an id and of a reason, and of a sentence of the conclusion, at most. */
const MOST = 600;
const MOST_SENTENCE = 8_000;

/**
 * The record in the Test Anything Protocol, version 14: a test point for each requirement. What could
 * not be judged is `not ok`, and so is a run of nothing: no reader shall take either for passed. A failure
 * that the baseline knows is skipped, and what is wrong with the baseline `not ok`, as it fails the run.
 */
export function renderTap(record: RunRecord): string {
  const rows = record.requirements;
  const wrong = record.baseline?.wrong ?? [];
  const lines = [
    'TAP version 14',
    `1..${Math.max(1, rows.length + wrong.length)}`,
    ...rows.flatMap((result, at) => pointLines(record, result, at + 1)),
    ...wrong.flatMap((words, at) => [
      `not ok ${rows.length + at + 1} - baseline`,
      ...yamlLines([['wrong', printable(words, MOST)]]),
    ]),
    ...(rows.length + wrong.length === 0 ? ['not ok 1 - nothing was checked'] : []),
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
      return [
        result.baseline === undefined
          ? `not ok ${point}`
          : `ok ${point} # SKIP ${escaped(printable(`known failure: ${result.baseline}`, MOST))}`,
        ...blockLines(record, result),
      ];
    case 'inconclusive':
    case 'broken':
      return [`not ok ${point}`, ...blockLines(record, result)];
  }
}

function blockLines(record: RunRecord, result: RequirementResult): readonly string[] {
  return yamlLines([
    ['outcome', result.outcome],
    ['level', result.level],
    ...factsOf(record, result).map(({ label, text }) => [label, text] as const),
  ]);
}

/** A YAML block; a JSON string is a YAML string. */
function yamlLines(fields: readonly (readonly [label: string, text: string])[]): readonly string[] {
  return [
    '  ---',
    ...fields.map(([label, text]) => `  ${label.replaceAll(' ', '-')}: ${JSON.stringify(text)}`),
    '  ...',
  ];
}

/** What would begin a directive, and what escapes it. */
const escaped = (text: string): string => text.replaceAll(/[\\#]/g, String.raw`\$&`);
