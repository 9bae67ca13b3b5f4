import { conclusion } from './conclusion.ts';
import { diffConclusion } from './diff-conclusion.ts';
import { changeWords } from './diff-words.ts';
import { changeKinds, changesOf, runName, type Change, type ChangeKind, type Comparison } from './diff.ts';
import { fit, type Block } from './fit.ts';
import { findingBlock, sentenceItem } from './markdown-finding.ts';
import { code, prose } from './markdown-text.ts';

/** Bytes at most: GitHub takes 65,536 characters for a comment. */
const MOST_BYTES = 60_000;
/** Columns of an id, and of other texts, at most. */
const MOST_ID = 300;
const MOST = 1_000;

const marks = {
  regression: '❌',
  'less verified': '❓',
  'no regression': '✅',
} as const satisfies Record<Comparison['tendency'], string>;

/** A comparison of two runs as GitHub's Markdown, short enough for a comment. */
export function renderDiffMarkdown(comparison: Comparison): string {
  const { tendency, before, after, caveats } = comparison;
  const [headline, ...rest] = diffConclusion(comparison);
  const told = (Object.keys(changeKinds) as ChangeKind[]).filter((kind) => kind !== 'unchanged');
  return fit(
    [
      { text: `## ${marks[tendency]} ${prose(headline, MOST)}` },
      ...rest.map((sentence) => ({ text: sentenceItem(sentence) })),
      ...[before, after].map((run, at) => ({
        text: `- **${at === 0 ? 'before' : 'after'}** ${code(runName(run), MOST)} ${prose(conclusion(run)[0], MOST)}`,
      })),
      ...caveats.map((caveat) => ({ text: `- **note** ${prose(caveat, MOST)}` })),
      ...told.flatMap((kind) => section(comparison, kind)),
    ],
    MOST_BYTES,
    'the json report has them all',
  );
}

function section(comparison: Comparison, kind: ChangeKind): readonly Block[] {
  const changes = changesOf(comparison, kind);
  if (changes.length === 0) return [];
  return [
    { text: `### ${changeKinds[kind]} (${changes.length})` },
    ...changes.map((change) => ({ text: itemOf(change), finding: change.id })),
    ...changes.flatMap(({ kind: own, id, after }) =>
      own === 'newlyFailing' && after !== undefined
        ? [{ text: findingBlock(comparison.after, after), finding: id }]
        : [],
    ),
  ];
}

function itemOf(change: Change): string {
  return `- ${code(change.id, MOST_ID)} ${prose(changeWords(change), MOST)}`;
}
