import type { RequirementResult, RunRecord } from '../schemas/generated/types.ts';
import { findingLines } from './console.ts';
import { changeKinds, changesByKind, diffConclusion } from './diff.ts';
import type { Change, ChangeKind, Comparison } from './diff.ts';
import type { ReportOptions } from './formats.ts';
import { safeJson } from './json.ts';
import { code, fitBlocks, prose, type Block } from './markdown-text.ts';
import { findingBlock, sentenceItem } from './markdown.ts';
import { markOf, wordsOf } from './results.ts';
import { hanging, printable, screenOf, wrap, type Screen, type Tone } from './text.ts';
import { conclusion } from './verdict.ts';

const tendencyStyles = {
  regression: { tone: 'bad', mark: '❌' },
  'less verified': { tone: 'unsure', mark: '❓' },
  'no regression': { tone: 'good', mark: '✅' },
} as const satisfies Record<Comparison['tendency'], { readonly tone: Tone; readonly mark: string }>;

/** `2026-01-15T10:40:00.000Z, http://127.0.0.1/, seed 7, 100 cases, ib-conformance 0.1.0` */
const runName = ({ startedAt, target, seed, cases, version }: RunRecord): string =>
  `${startedAt}, ${target}, seed ${seed}, ${cases} cases, ib-conformance ${version}`;

/** `required: passed before; failed in status now` */
function changeWords({ level, before, after }: Change): string {
  const then = before === undefined ? [] : [`${outcomeWords(before)} before`];
  const now = after === undefined ? 'not in this run' : `${outcomeWords(after)} now`;
  return `${level}: ${[...then, now].join('; ')}`;
}

function outcomeWords(result: RequirementResult): string {
  if (result.outcome === 'failed') return `failed in ${result.aspect}`;
  if (result.outcome === 'broken') return 'broken (a bug of ib-conformance)';
  return 'reason' in result ? `${result.outcome} (${wordsOf(result)})` : result.outcome;
}

const MAX_WORDS = 400;
const MAX_SENTENCE = 2_000;

/** Renders a comparison for people: changes, newly failing requirements in full, and last the conclusion. */
export function renderDiffConsole(comparison: Comparison, options: ReportOptions): string {
  const screen = screenOf(options);
  const { width, paint } = screen;
  const { before, after, caveats, tendency, changes } = comparison;
  const failing = new Set(changes.filter(({ kind }) => kind === 'newlyFailing').map(({ id }) => id));
  const newlyFailing = after.requirements.filter(({ id }) => failing.has(id));
  const sentence = (text: string) => hanging(printable(text, MAX_SENTENCE), width);
  const [headline, ...rest] = diffConclusion(comparison);
  const lines = [
    ...[before, after].flatMap((run, at) => [
      ...sentence(`${at === 0 ? 'before' : 'after'}: ${runName(run)}`).map((line) => paint('quiet', line)),
      ...wrap(printable(conclusion(run)[0], MAX_SENTENCE), width - 2).map((line) => `  ${line}`),
    ]),
    ...caveats.flatMap((caveat) => sentence(`note: ${caveat}`)),
    ...changesByKind(comparison).flatMap(([kind, ofKind]) => [
      '',
      paint('loud', changeKinds[kind]),
      ...ofKind.flatMap((change) => changeLines(change, screen)),
    ]),
    ...findingLines(after, newlyFailing, screen),
    '',
    ...sentence(headline).map((line) => paint('loud', paint(tendencyStyles[tendency].tone, line))),
    ...rest.flatMap(sentence),
  ];
  return `${lines.join('\n')}\n`;
}

const gone = { mark: '–', tone: 'quiet' } as const;

function changeLines(change: Change, { paint, width }: Screen): readonly string[] {
  const { mark, tone } = change.after === undefined ? gone : markOf(change.after);
  const words = wrap(printable(changeWords(change), MAX_WORDS), width - 6);
  return [
    `  ${paint(tone, mark)} ${printable(change.id, width - 4)}`,
    ...words.map((line) => `      ${paint(tone, line)}`),
  ];
}

/** Maximum bytes of a comparison in Markdown. GitHub's limit for a comment is 65,536 characters. */
const MAX_BYTES = 60_000;
const MAX_ID = 300;
const MAX_TEXT = 1_000;

/** Renders a comparison as GitHub Markdown, short enough for a comment. */
export function renderDiffMarkdown(comparison: Comparison): string {
  const { tendency, before, after, caveats } = comparison;
  const [headline, ...rest] = diffConclusion(comparison);
  const blocks = [
    `## ${tendencyStyles[tendency].mark} ${prose(headline, MAX_TEXT)}`,
    ...rest.map(sentenceItem),
    ...[before, after].map(
      (run, at) =>
        `- **${at === 0 ? 'before' : 'after'}** ${code(runName(run), MAX_TEXT)} ${prose(conclusion(run)[0], MAX_TEXT)}`,
    ),
    ...caveats.map((caveat) => `- **note** ${prose(caveat, MAX_TEXT)}`),
  ].map((text) => ({ text }));
  const sections = changesByKind(comparison).flatMap(([kind, changes]) => section(kind, changes, after));
  return fitBlocks([...blocks, ...sections], MAX_BYTES);
}

function section(kind: ChangeKind, changes: readonly Change[], run: RunRecord): readonly Block[] {
  const items = changes.map(
    (change) => `- ${code(change.id, MAX_ID)} ${prose(changeWords(change), MAX_TEXT)}`,
  );
  const findings = changes.flatMap(({ after }) =>
    kind === 'newlyFailing' && after !== undefined ? [findingBlock(run, after)] : [],
  );
  return [
    { text: `### ${changeKinds[kind]} (${changes.length})` },
    ...[...items, ...findings].map((text) => ({ text, isOptional: true })),
  ];
}

const summarized = 'version verdict target partner seed cases startedAt interrupted'.split(' ');

/** Renders a comparison as JSON: each changed requirement with both results. */
export function renderDiffJson({ tendency, before, after, caveats, changes }: Comparison): string {
  const summary = (run: RunRecord) =>
    Object.fromEntries(Object.entries(run).filter(([name]) => summarized.includes(name)));
  const data = {
    format: 'ib-conformance/diff/1',
    tendency,
    before: summary(before),
    after: summary(after),
    caveats,
    unchanged: changes.filter(({ kind }) => kind === 'unchanged').map(({ id }) => id),
    changes: changes.filter(({ kind }) => kind !== 'unchanged'),
  };
  return `${safeJson(data, 2)}\n`;
}
