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

/** The fenced blocks of a page, in their order, those in lists and quotes too. */
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
export function headingsOf(markdown: string): readonly string[] {
  return nodesOf(markdown).flatMap((node) => (node.type === 'heading' ? [headingOf(markdown, node)] : []));
}

/** Where the links of a page lead, those in its prose, lists and tables. */
export function linksOf(markdown: string): readonly string[] {
  return nodesOf(markdown).flatMap((node) => (node.type === 'link' ? [node.url] : []));
}

type Node = ReturnType<typeof fromMarkdown> | ReturnType<typeof fromMarkdown>['children'][number];

/** A page's nodes from top to bottom, each before what it holds. */
function nodesOf(markdown: string): readonly Node[] {
  const within = (node: Node): readonly Node[] => [
    node,
    ...('children' in node ? node.children.flatMap(within) : []),
  ];
  return within(fromMarkdown(markdown));
}

const headingOf = (markdown: string, { position }: Node) =>
  markdown.slice(position?.start.offset, position?.end.offset).replace(/^#+ /, '');
