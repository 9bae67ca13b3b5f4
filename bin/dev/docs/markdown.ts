import { fromMarkdown } from 'mdast-util-from-markdown';

/**
 * Returns code blocks, headings and links of a page in order, including those in lists and quotes. A block has the
 * heading above it without `#`, the language of its fence, such as `sh`, and its text with a line feed at the end.
 */
export function parsePage(markdown: string) {
  const blocks: { readonly heading: string; readonly language: string; readonly text: string }[] = [];
  const [headings, links]: [string[], string[]] = [[], []];
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
