/** Parsers for HTML (parse5, as a browser), Markdown (micromark, as GitHub) and XML (libxml2). */
import { parse as parseMarkdown } from '@textlint/markdown-to-ast';
import { defaultTreeAdapter, parse, type DefaultTreeAdapterTypes, type parseFragment } from 'parse5';
import { validateXML } from 'xmllint-wasm';

/** A node of a Markdown document. */
export interface MarkdownNode {
  /** Of a heading. */
  readonly depth?: number;
  readonly type: string;
  /** Its Markdown. */
  readonly raw: string;
  readonly value?: string;
  readonly lang?: string | null;
  readonly url?: string;
  readonly children?: readonly MarkdownNode[];
}

/** Returns all nodes of a Markdown document. */
export function markdownNodes(text: string): readonly MarkdownNode[] {
  const every = (node: MarkdownNode): readonly MarkdownNode[] => [
    node,
    ...(node.children ?? []).flatMap(every),
  ];
  return every(parseMarkdown(text) as MarkdownNode);
}

export const textOf = ({ value = '', children = [] }: MarkdownNode): string =>
  value + children.map(textOf).join('');

export type Element = DefaultTreeAdapterTypes.Element;

/** Parses a page or a fragment. Returns its elements and texts, and errors that a browser would repair. */
export function parsed(source: string, read: typeof parse | typeof parseFragment = parse) {
  const errors: string[] = [];
  const { childNodes } = read(source, { onParseError: ({ code }) => errors.push(code) });
  const elements: Element[] = [];
  /** All texts, trimmed. */
  const texts = new Set<string>();
  const visit = (node: DefaultTreeAdapterTypes.ChildNode) => {
    if (defaultTreeAdapter.isTextNode(node)) texts.add(node.value.trim());
    if (!defaultTreeAdapter.isElementNode(node)) return;
    elements.push(node);
    for (const child of node.childNodes) visit(child);
  };
  for (const node of childNodes) visit(node);
  return { elements, texts, errors };
}

export const attribute = ({ attrs }: Element, name: string) =>
  attrs.find((attr) => attr.name === name)?.value;

export const withClass = ({ elements }: ReturnType<typeof parsed>, name: string) =>
  elements.filter((element) => attribute(element, 'class')?.split(' ').includes(name) === true);

export function textIn({ childNodes }: Pick<Element, 'childNodes'>): string {
  return childNodes
    .map((node) => {
      if (defaultTreeAdapter.isTextNode(node)) return node.value;
      return defaultTreeAdapter.isElementNode(node) ? textIn(node) : '';
    })
    .join('');
}

/** Validates XML documents against an XML Schema. Returns the errors, one per line. */
export async function xmlErrors(documents: readonly string[], schema: string): Promise<readonly string[]> {
  const xml = documents.map((contents, at) => ({ fileName: `${at}.xml`, contents }));
  const { valid, errors, rawOutput } = await validateXML({ xml, schema: [schema] });
  if (valid) return [];
  return errors.length > 0 ? errors.map(({ rawMessage }) => rawMessage) : [rawOutput];
}

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
