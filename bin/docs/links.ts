import { fromMarkdown } from 'mdast-util-from-markdown';

/** A heading as GitHub makes an anchor of it. */
export function slugOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .replace(/ /g, '-');
}

/** Where the links of a page lead, those in its prose and tables. */
export function linksOf(markdown: string): readonly string[] {
  const links: string[] = [];
  const look = (node: object) => {
    if ('type' in node && node.type === 'link' && 'url' in node) links.push(String(node.url));
    if ('children' in node) for (const child of node.children as readonly object[]) look(child);
  };
  look(fromMarkdown(markdown));
  return links;
}
