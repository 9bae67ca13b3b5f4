import { fromMarkdown } from 'mdast-util-from-markdown';

/** A fenced block of a page. */
export interface Block {
  /** The heading above it, without its hashes; the empty text where there is none. */
  readonly heading: string;
  /** What stands behind the fence, such as `sh`; the empty text where nothing does. */
  readonly language: string;
  /** What it holds, with a line feed at its end. */
  readonly text: string;
}

/** The fenced blocks of a page, in their order. */
export function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  let heading = '';
  for (const node of fromMarkdown(markdown).children) {
    if (node.type === 'heading') heading = headingOf(markdown, node.position!);
    if (node.type === 'code') blocks.push({ heading, language: node.lang ?? '', text: `${node.value}\n` });
  }
  return blocks;
}

/** The headings of a page, without their hashes. */
export function headingsOf(markdown: string): readonly string[] {
  return fromMarkdown(markdown).children.flatMap((node) =>
    node.type === 'heading' ? [headingOf(markdown, node.position!)] : [],
  );
}

interface Span {
  readonly start: { readonly offset?: number | undefined };
  readonly end: { readonly offset?: number | undefined };
}

const headingOf = (markdown: string, { start, end }: Span) =>
  markdown.slice(start.offset, end.offset).replace(/^#+ /, '');
