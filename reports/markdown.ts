import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { alignTexts } from './text-difference.ts';
import { codeCell, code, codeBlock, fitBlocks, prose, type Block } from './markdown-text.ts';
import {
  byFix,
  bySuite,
  factsOf,
  effectiveVerdict,
  markOf,
  MAX_TEXT,
  outcomes,
  verdictStyles,
  type Fact,
} from './results.ts';
import { count, duration, compact, plural } from './text.ts';
import { conclusion, fixOf } from './verdict.ts';

/** Maximum bytes. GitHub's limit for the summary of a step is 1 MiB (1,048,576). */
const MAX_BYTES = 1_000_000;
const MAX_SENTENCE = 4_000;
const MAX_NAME = 300;

/** Renders the record as GitHub Markdown for the summary of a step or a comment, most important first. */
export function renderMarkdown(record: RunRecord): string {
  const { requirements } = record;
  const withOutcome = (wanted: RequirementResult['outcome']) =>
    (['required', 'recommended', 'observed'] as const).flatMap((level) =>
      requirements.filter((result) => result.level === level && result.outcome === wanted),
    );
  const failed = withOutcome('failed');
  const findings = (title: string, results: readonly RequirementResult[]) =>
    section(title, results, alikeBlocks(record, results));
  const items = (title: string, results: readonly RequirementResult[]) =>
    section(title, results, results.map(itemOf));
  return fitBlocks(
    [
      ...headBlocks(record),
      ...findings(
        'Failed',
        failed.filter((result) => !isKnownFailure(result)),
      ),
      ...findings('Known failures', failed.filter(isKnownFailure)),
      ...findings('Broken', withOutcome('broken')),
      ...items('Not checked', withOutcome('inconclusive')),
      { text: '### Suites' },
      { text: tableOf(requirements) },
      ...items('Excluded', withOutcome('excluded')),
      ...items('Observed where the interface is silent', withOutcome('observed')),
    ],
    MAX_BYTES,
  );
}

function headBlocks(record: RunRecord): readonly Block[] {
  const { target, partner, seed, version, requests, durationMs, notes } = record;
  const [headline, ...rest] = conclusion(record);
  const run = compact(
    `target ${code(target, MAX_NAME)}`,
    partner !== undefined && `partner ${code(partner, MAX_NAME)}`,
    `seed ${seed}`,
    `${plural(requests, 'request')} in ${duration(durationMs)}`,
    `ib-conformance ${code(version, MAX_NAME)}`,
  );
  const items = [...rest.map(sentenceItem), ...notes.map((note) => `- **note** ${prose(note, MAX_NAME)}`)];
  return [
    { text: `## ${verdictStyles[effectiveVerdict(record)].emoji} ${prose(headline, MAX_SENTENCE)}` },
    { text: `Run: ${run.join(', ')}` },
    ...items.map((text) => ({ text, isOptional: true })),
  ];
}

function section(title: string, results: readonly RequirementResult[], texts: readonly string[]) {
  if (results.length === 0) return [];
  const items = texts.map((text) => ({ text, isOptional: true }));
  return [{ text: `### ${title} (${count(results.length)})` }, ...items];
}

const alikeBlocks = (record: RunRecord, results: readonly RequirementResult[]): readonly string[] =>
  byFix(results).map(({ first, rest }) => {
    const ids = rest.map(({ id }) => code(id, MAX_NAME)).join(', ');
    const others = rest.length === 0 ? '' : `\n\nAnd ${count(rest.length)} more like this: ${ids}`;
    return findingBlock(record, first) + others;
  });

function itemOf(result: RequirementResult): string {
  const isOpen = result.outcome === 'inconclusive' || result.outcome === 'excluded';
  const words = 'words' in result ? result.words : '';
  const remedy = isOpen ? fixOf(result.reason) : undefined;
  const fix = remedy === undefined ? '' : ` **Fix:** ${prose(remedy, MAX_TEXT)}`;
  const text = prose(isOpen ? `${result.reason}: ${words}` : words, MAX_TEXT);
  return `- ${markOf(result).mark} ${code(result.id, MAX_NAME)} (${result.level}) ${text}${fix}`;
}

function tableOf(requirements: readonly RequirementResult[]): string {
  const rows = [...bySuite(requirements)].map(([suite, results]) => {
    const numbers = outcomes.map((wanted) => results.filter(({ outcome }) => outcome === wanted).length);
    return [codeCell(suite, MAX_NAME), ...numbers.map((number) => (number === 0 ? '' : count(number)))];
  });
  return [['suite', ...outcomes], ['---', ...outcomes.map(() => '--:')], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** `- **failed** auth/user-status/missing`: the bold part is our text, the rest comes from the record. */
function sentenceItem(sentence: string): string {
  const end = sentence.indexOf(': ');
  return `- **${sentence.slice(0, end)}** ${prose(sentence.slice(end + 2), MAX_SENTENCE)}`;
}

const LABEL_WIDTH = 10;
const COMPARISON_WIDTH = 110;

/** Renders a failure or our own bug in full: one block with its own heading. */
function findingBlock(record: RunRecord, result: RequirementResult): string {
  const facts = factsOf(record, result);
  const comparison =
    result.outcome === 'failed' ? alignTexts(result.expected, result.actual, COMPARISON_WIDTH) : [];
  const isCompared = ({ label }: Fact) => label === 'expected' || label === 'actual';
  const lines = [...comparison, ...facts.filter((fact) => fact.kind === 'exact' && !isCompared(fact))];
  const texts = lines.map(({ label, text }) => label.padEnd(LABEL_WIDTH) + text);
  const prosaic = facts.filter(({ kind }) => kind === 'prose');
  return compact(
    `#### ${markOf(result).mark} ${code(result.id, MAX_NAME)}`,
    prosaic.map(({ label, text }) => `- **${label}** ${prose(text, MAX_TEXT)}`).join('\n'),
    texts.length > 0 && codeBlock('text', texts),
    ...facts.filter(({ kind }) => kind === 'command').map(({ text }) => codeBlock('sh', [text])),
  ).join('\n\n');
}
