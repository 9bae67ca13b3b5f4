import { fromMarkdown } from 'mdast-util-from-markdown';

/** A fenced code block of a page. */
export interface Block {
  /** The heading above it without `#`, or an empty string. */
  readonly heading: string;
  /** The language of the fence, such as `sh`, or an empty string. */
  readonly language: string;
  /** Ends with a line feed. */
  readonly text: string;
}

/** Returns code blocks, headings and links of a page in order, including those in lists and quotes. */
export function parsePage(markdown: string) {
  const [blocks, headings, links]: [Block[], string[], string[]] = [[], [], []];
  const visit = (node: Node): void => {
    if (node.type === 'heading')
      headings.push(
        markdown.slice(node.position?.start.offset, node.position?.end.offset).replace(/^#+ /, ''),
      );
    if (node.type === 'code')
      blocks.push({ heading: headings.at(-1) ?? '', language: node.lang ?? '', text: `${node.value}\n` });
    if (node.type === 'link') links.push(node.url);
    if ('children' in node) node.children.forEach(visit);
  };
  visit(fromMarkdown(markdown));
  return { blocks, headings, links };
}

type Node = ReturnType<typeof fromMarkdown> | ReturnType<typeof fromMarkdown>['children'][number];

/** Returns the anchor of a heading on GitHub. */
export function slugOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .replace(/ /g, '-');
}
