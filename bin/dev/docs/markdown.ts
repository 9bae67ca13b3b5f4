import { markdownNodes } from '../../../reports/testing/parsers.ts';

/**
 * Returns code blocks, headings and links of a page in order, including those in lists and quotes. A block has the
 * heading above it without `#`, the language of its fence, such as `sh`, and its text with a line feed at the end.
 */
export function parsePage(markdown: string) {
  const blocks: { readonly heading: string; readonly language: string; readonly text: string }[] = [];
  const [headings, links]: [string[], string[]] = [[], []];
  for (const { type, raw, value, lang, url } of markdownNodes(markdown)) {
    if (type === 'Header') headings.push(raw.replace(/^#+ /, ''));
    if (type === 'CodeBlock')
      blocks.push({ heading: headings.at(-1) ?? '', language: lang ?? '', text: `${value}\n` });
    if (type === 'Link') links.push(url!);
  }
  return { blocks, headings, links };
}

/** Returns the anchor of a heading on GitHub. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .replace(/ /g, '-');
}
