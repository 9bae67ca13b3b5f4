import { fromMarkdown } from 'mdast-util-from-markdown';
import { textOf } from '../../reports/markdown-nodes.ts';

/** A fenced block of a page. */
export interface Block {
  /** The heading above it; empty where there is none. */
  readonly heading: string;
  /** What stands behind the fence, such as `sh`; empty where nothing does. */
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of a page, in their order; those within lists and quotes are not looked for. */
export function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  let heading = '';
  for (const node of fromMarkdown(markdown).children) {
    if (node.type === 'heading') heading = textOf(node);
    if (node.type === 'code') blocks.push({ heading, language: node.lang ?? '', text: node.value });
  }
  return blocks;
}
