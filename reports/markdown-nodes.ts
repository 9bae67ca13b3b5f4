import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** A part of a Markdown document. */
export interface MarkdownNode {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly MarkdownNode[];
}

/** Every part of a Markdown document, as GitHub reads it; for tests. */
export function markdownNodes(text: string): readonly MarkdownNode[] {
  const every = (node: MarkdownNode): readonly MarkdownNode[] => [
    node,
    ...(node.children ?? []).flatMap(every),
  ];
  return every(fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }));
}

/** What a reader sees of a part. */
export function textOf({ value = '', children = [] }: MarkdownNode): string {
  return value + children.map(textOf).join('');
}
