import {
  factLines,
  LABEL_WIDTH,
  MAX_COMMAND,
  MAX_LIST,
  MAX_TEXT,
  headlineText,
  shownSections,
  wordsWithFix,
  type Block,
  type Fact,
  type Finding,
  type Item,
  type Matrix,
  type Report,
} from './document.ts';
import { alignTexts } from './text-difference.ts';
import { compact, printable } from './text.ts';

/** Maximum bytes. GitHub's limit for the summary of a step is 1 MiB (1,048,576). */
const MAX_BYTES = 1_000_000;

/** Prints a report as GitHub Markdown for the summary of a step or a comment, with its conclusion first. */
export function toMarkdown(report: Report): string {
  const { headline, about, conclusion, command, next } = report;
  const step = next && ('command' in next ? code(next.command, MAX_COMMAND) : prose(next.words, MAX_TEXT));
  return fitBlocks(
    [
      `## ${headline.emoji} ${prose(headlineText(report), MAX_LIST)}`,
      `Run: ${prose(about, MAX_TEXT)}`,
      ...conclusion.flatMap(blockTexts),
      ...(command === undefined ? [] : [`- **run** ${code(command, MAX_COMMAND)}`]),
      ...(step === undefined ? [] : [`- **next** ${step}`]),
      ...shownSections(report).flatMap(({ title, blocks }) => [
        ...(title === '' ? [] : [`### ${prose(title, MAX_TEXT)}`]),
        ...blocks.flatMap(blockTexts),
      ]),
    ],
    MAX_BYTES,
  );
}

function blockTexts(block: Block): readonly string[] {
  switch (block.kind) {
    case 'text':
      return [`- ${prose(block.text, MAX_LIST)}`];
    case 'list':
      return [
        ...(block.title === undefined ? [] : [`##### ${prose(block.title, MAX_TEXT)}`]),
        ...block.items.map(itemText),
      ];
    case 'matrix':
      return [tableText(block)];
    case 'timeline':
    case 'trial':
      return [];
    case 'finding':
      return [findingText(block)];
  }
}

function itemText(item: Item): string {
  const words = wordsWithFix(item);
  return `- ${item.mark} ${code(item.name, MAX_TEXT)}${words.trim() === '' ? '' : ` ${prose(words, MAX_LIST)}`}`;
}

function tableText({ rows }: Matrix): string {
  const cells = rows.map(({ mark, name, words }) => [mark, codeCell(name, MAX_TEXT), prose(words, MAX_LIST)]);
  return [['', 'suite', 'results'], ['---', '---', '---'], ...cells]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');
}

const COMPARISON_WIDTH = 110;

/** Renders a finding in full: one block with its own heading. */
function findingText({ mark, title, facts }: Finding): string {
  const lines = facts.flatMap(exactLines);
  const words = facts.flatMap((fact) =>
    fact.kind === 'prose' ? [`- **${fact.label}** ${prose(fact.text, MAX_LIST)}`] : [],
  );
  const commands = facts.flatMap((fact) =>
    fact.kind === 'command'
      ? [`**${fact.label}**`, codeBlock('sh', [printable(fact.text, MAX_COMMAND)])]
      : [],
  );
  return compact(
    `#### ${mark} ${prose(title, MAX_TEXT)}`,
    words.length > 0 && words.join('\n'),
    lines.length > 0 && codeBlock('text', lines),
    ...commands,
  ).join('\n\n');
}

function exactLines(fact: Fact): readonly string[] {
  if (fact.kind === 'exact') return factLines([fact]);
  if (fact.kind !== 'comparison') return [];
  const lines = alignTexts(fact.expected, fact.actual, COMPARISON_WIDTH);
  return lines.map(({ label, text }) => label.padEnd(LABEL_WIDTH) + text);
}

/**
 * Text that Markdown shows unchanged, if its underscores are escaped. Text that could become a link, a mention, an
 * emoji, a heading, math or HTML is written as code.
 */
const PLAIN = /^(?:[\p{L}\p{N} ,;.’"'()/%?!–…+=_-]|:(?= ))+$/u;
/** Text that GitHub turns into a link: addresses, commits, issues. */
const LINKED = /www\.|\bGH-\d|\b[\da-f]{7,40}\b/i;

/** Writes text as code. */
function code(text: string, most: number): string {
  const shown = printable(text, most);
  if (shown.trim() === '') return '(blank)';
  const ticks = fenceFor(shown, 1);
  const isPadded = /^[ `]|[ `]$/.test(shown);
  return isPadded ? `${ticks} ${shown} ${ticks}` : ticks + shown + ticks;
}

/** Writes text as code in a table cell, with `|` escaped. */
const codeCell = (text: string, most: number): string => code(text.replaceAll('|', String.raw`\u{7c}`), most);

/** Writes plain text unchanged, other text as code. Not for the beginning of a line. */
function prose(text: string, most: number): string {
  const shown = printable(text, most).trim();
  return PLAIN.test(shown) && !LINKED.test(shown) ? shown.replaceAll('_', String.raw`\_`) : code(shown, most);
}

/** Writes printable lines as a code block. */
function codeBlock(language: 'text' | 'sh', lines: readonly string[]): string {
  const fence = fenceFor(lines.join('\n'), 3);
  return [`${fence}${language}`, ...lines, fence].join('\n');
}

function fenceFor(text: string, least: number): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  return '`'.repeat(Math.max(least, longest + 1));
}

/** Bytes for a last line that says how many blocks were left out. */
const CLOSING_BYTES = 100;

/** Joins blocks of Markdown, the most important first, to at most `most` bytes. A last line counts what is left out. */
function fitBlocks(blocks: readonly string[], most: number): string {
  let room = most - CLOSING_BYTES;
  const end = blocks.findIndex((block) => (room -= Buffer.byteLength(block) + 2) < 0);
  if (end < 0) return joined(blocks);
  const left = `${blocks.length - end} more do not fit here. The json report has all of them.`;
  return joined([...blocks.slice(0, end), left]);
}

/** Joins blocks with blank lines, but items of a list without them. */
const joined = (blocks: readonly string[]): string =>
  blocks
    .map((block, at) => block + (block.startsWith('- ') && blocks[at + 1]?.startsWith('- ') ? '\n' : '\n\n'))
    .join('')
    .replace(/\n\n$/, '\n');
