import { factLines, MAX_COMMAND, MAX_LIST, shownSections, wordsWithFix } from './document.ts';
import type { Block, Item, Report, Section } from './document.ts';
import { compact, printable } from './text.ts';

/** GitHub's limit for annotations of a kind per step. It drops more. */
const MAX_SHOWN = 10;

interface Annotation {
  readonly title: string;
  readonly lines: readonly string[];
}

/**
 * Prints a report as workflow commands for GitHub Actions, one per line. The headline comes first, with what was not
 * verified: a notice, or an error if nothing else is the cause of the exit code. Then come errors and warnings, as the
 * sections say. Of more than ten of a kind, the last one names the rest.
 */
export function toGithub(report: Report): string {
  const { headline, conclusion, command: run } = report;
  const sections = shownSections(report);
  const kind = headline.tone === 'unsure' || headline.tone === 'ours' ? 'error' : 'notice';
  const of = (wanted: Section['kind']) =>
    sections
      .filter((section) => section.kind === wanted)
      .flatMap(({ blocks }) => blocks.flatMap(annotationsOf));
  const open = of('open').flatMap(({ title, lines }) => `${title}: ${lines.join(' ')}`);
  const first = {
    title: `ib-conformance: ${headline.words}: ${headline.numbers}`,
    lines: compact(
      ...conclusion.flatMap(textOf),
      ...open.map((words) => `not verified: ${words}`),
      run && `run: ${run}`,
    ),
  };
  const errors = fitted(of('error'), kind === 'error' ? MAX_SHOWN - 1 : MAX_SHOWN);
  const lines = [
    command(kind, first),
    ...errors.map((one) => command('error', one)),
    ...fitted(of('warning'), MAX_SHOWN).map((one) => command('warning', one)),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** At most `most` annotations. The last one names those that are left out. */
function fitted(all: readonly Annotation[], most: number): readonly Annotation[] {
  if (all.length <= most) return all;
  const left = all.slice(most - 1).map(({ title }) => title);
  return [...all.slice(0, most - 1), { title: `${left.length} more`, lines: left }];
}

const textOf = (block: Block) => (block.kind === 'text' ? [block.text] : []);

function annotationsOf(block: Block): readonly Annotation[] {
  if (block.kind === 'finding') return [{ title: block.title, lines: factLines(block.facts) }];
  if (block.kind === 'list')
    return block.items.map((item: Item) => ({ title: item.name, lines: [wordsWithFix(item)] }));
  return textOf(block).map((title) => ({ title, lines: [] }));
}

/** Writes a workflow command on one line, with GitHub's escapes. */
function command(kind: 'error' | 'warning' | 'notice', { title, lines }: Annotation): string {
  const escaped = (text: string) =>
    text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = escaped(printable(title, MAX_LIST)).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::${kind} title=${property}::${escaped(lines.map((text) => printable(text, MAX_COMMAND)).join('\n'))}`;
}
