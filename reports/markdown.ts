import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { isKnownFailure } from '../schemas/known-failure.ts';
import { bySuite } from './by-suite.ts';
import { conclusion } from './conclusion.ts';
import { fit, type Block } from './fit.ts';
import { findingBlock, itemOf, sentenceItem } from './markdown-finding.ts';
import { cell, code, prose } from './markdown-text.ts';
import { outcomes } from './marks.ts';
import { remedyOf } from './remedies.ts';
import { count, duration, several } from './units.ts';

/** Bytes at most: GitHub takes 1 MiB (1,048,576) for the summary of a step. */
const MOST_BYTES = 1_000_000;
/** Suites of the table at most; the catalogue has fewer. */
const MOST_SUITES = 40;
/** Columns of a sentence, and of other texts, at most. */
const MOST_SENTENCE = 4_000;
const MOST = 300;

const marks = { conformant: '✅', nonconformant: '❌', incomplete: '❓' } as const satisfies Record<
  RunRecord['verdict'],
  string
>;

/** The record as GitHub's Markdown, for the summary of a step or a comment: what matters first. */
export function renderMarkdown(record: RunRecord): string {
  const { requirements } = record;
  const having = (wanted: RequirementResult['outcome']) =>
    byWeight(requirements.filter(({ outcome }) => outcome === wanted));
  const failed = having('failed');
  const isNew = (result: RequirementResult) => !isKnownFailure(result);
  return fit(
    [
      ...headBlocks(record),
      ...section('Failed', failed.filter(isNew), (result) => findingBlock(record, result)),
      ...section('Known failures', failed.filter(isKnownFailure), (result) => findingBlock(record, result)),
      ...section('Broken', having('broken'), (result) => findingBlock(record, result)),
      ...section('Not judged', having('inconclusive'), openItem),
      { text: '### Suites' },
      { text: tableOf(requirements) },
      ...section('Left out', having('excluded'), openItem),
      ...section('Observed where the interface is silent', having('observed'), (result) =>
        result.outcome === 'observed' ? itemOf(result, result.words) : '',
      ),
    ],
    MOST_BYTES,
    'the json report has them all',
  );
}

function headBlocks(record: RunRecord): readonly Block[] {
  const { target, partner, seed, version, requests, durationMs, notes, diagnosis = [] } = record;
  const [headline, ...rest] = conclusion(record);
  const run = [
    `target ${code(target, MOST)}`,
    ...(partner === undefined ? [] : [`partner ${code(partner, MOST)}`]),
    `seed ${seed}`,
    `${several(requests, 'request')} in ${duration(durationMs)}`,
    `ib-conformance ${code(version, MOST)}`,
  ];
  const items = [
    ...rest.map(sentenceItem),
    ...diagnosis.map(
      ({ fault, what, fit: likeness }) =>
        `- **looks like** ${code(fault, MOST)}: ${prose(what, MOST)} (fits ${Math.round(likeness * 100)} %)`,
    ),
    ...notes.map((note) => `- **note** ${prose(note, MOST)}`),
  ];
  return [
    { text: `## ${markOfRun(record)} ${prose(headline, MOST_SENTENCE)}` },
    { text: `Run: ${run.join(', ')}` },
    ...items.map((text) => ({ text, finding: 'note' })),
  ];
}

/** By what the exit code says: the baseline may make a run pass, or fail. */
function markOfRun({ verdict, baseline }: RunRecord): string {
  if (baseline === undefined) return marks[verdict];
  return baseline.wrong.length > 0 ? marks.nonconformant : marks[baseline.verdict];
}

/** A heading and what stands under it; nothing where there is nothing. */
function section(
  title: string,
  results: readonly RequirementResult[],
  textOf: (result: RequirementResult) => string,
): readonly Block[] {
  if (results.length === 0) return [];
  const items = results.map((result) => ({ text: textOf(result), finding: result.id }));
  return [{ text: `### ${title} (${count(results.length)})` }, ...items];
}

function openItem(result: RequirementResult): string {
  if (result.outcome !== 'inconclusive' && result.outcome !== 'excluded') return '';
  return itemOf(result, `${result.reason}: ${result.words}`, remedyOf(result.reason));
}

/** Required ones first, those that are only observed last. */
function byWeight(results: readonly RequirementResult[]): readonly RequirementResult[] {
  return (['required', 'recommended', 'observed'] as const).flatMap((level) =>
    results.filter((result) => result.level === level),
  );
}

function tableOf(requirements: readonly RequirementResult[]): string {
  const suites = [...bySuite(requirements)];
  const rows = suites.slice(0, MOST_SUITES).map(([suite, rowsOfIt]) => {
    const numbers = outcomes.map((wanted) => rowsOfIt.filter(({ outcome }) => outcome === wanted).length);
    return [cell(suite, MOST), ...numbers.map((number) => (number === 0 ? '' : count(number)))];
  });
  const more = suites.length - rows.length;
  return [
    ['suite', ...outcomes],
    ['---', ...outcomes.map(() => '--:')],
    ...rows,
    ...(more > 0 ? [[`${count(more)} more`]] : []),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
