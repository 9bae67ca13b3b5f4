import { fromMarkdown } from 'mdast-util-from-markdown';

/** A fenced code block of a page. */
export interface Block {
  /** The heading above it without its hashes, or an empty text. */
  readonly heading: string;
  /** The language after the fence, such as `sh`, or an empty text. */
  readonly language: string;
  /** Ends with a line feed. */
  readonly text: string;
}

/** The fenced code blocks of a page in their order, including those in lists and quotes. */
export function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  let heading = '';
  for (const node of nodesOf(markdown)) {
    if (node.type === 'heading') heading = headingOf(markdown, node);
    if (node.type === 'code') blocks.push({ heading, language: node.lang ?? '', text: `${node.value}\n` });
  }
  return blocks;
}

/** The headings of a page, without their hashes. */
export const headingsOf = (markdown: string): readonly string[] =>
  nodesOf(markdown).flatMap((node) => (node.type === 'heading' ? [headingOf(markdown, node)] : []));

/** The targets of a page's links. */
export const linksOf = (markdown: string): readonly string[] =>
  nodesOf(markdown).flatMap((node) => (node.type === 'link' ? [node.url] : []));

type Node = ReturnType<typeof fromMarkdown> | ReturnType<typeof fromMarkdown>['children'][number];

/** A page's nodes from top to bottom, each before what it holds. */
const nodesOf = (markdown: string): readonly Node[] => within(fromMarkdown(markdown));
const within = (node: Node): readonly Node[] => [
  node,
  ...('children' in node ? node.children.flatMap(within) : []),
];

const headingOf = (markdown: string, { position }: Node) =>
  markdown.slice(position?.start.offset, position?.end.offset).replace(/^#+ /, '');

/** The anchor that GitHub makes of a heading. */
export function slugOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .replace(/ /g, '-');
}
