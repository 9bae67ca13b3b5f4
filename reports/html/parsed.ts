/** How browsers read a page (HTML Living Standard), for tests. */
import { defaultTreeAdapter, parse, parseFragment, type DefaultTreeAdapterTypes } from 'parse5';

type Node = DefaultTreeAdapterTypes.ChildNode;
export type Element = DefaultTreeAdapterTypes.Element;

/** What stands in a page. */
export interface Parsed {
  /** Every element, in the order of the page. */
  readonly elements: readonly Element[];
  /** Every text with no white space around it. */
  readonly texts: ReadonlySet<string>;
  /** What was wrong with it: a browser would have guessed. */
  readonly errors: readonly string[];
}

/** Reads a whole page. */
export function parsedPage(source: string): Parsed {
  const errors: string[] = [];
  const { childNodes } = parse(source, { onParseError: ({ code }) => errors.push(code) });
  return { ...collected(childNodes), errors };
}

/** Reads what may stand in the body of a page. */
export function parsedPart(source: string): Parsed {
  const errors: string[] = [];
  const { childNodes } = parseFragment(source, { onParseError: ({ code }) => errors.push(code) });
  return { ...collected(childNodes), errors };
}

/** Value of an attribute. */
export const attribute = ({ attrs }: Element, name: string) =>
  attrs.find((attr) => attr.name === name)?.value;

/** Elements that carry a class. */
export const classed = ({ elements }: Parsed, name: string) =>
  elements.filter((element) => attribute(element, 'class')?.split(' ').includes(name) === true);

/** All text in an element. */
export function textIn({ childNodes }: Pick<Element, 'childNodes'>): string {
  return childNodes
    .map((node) =>
      defaultTreeAdapter.isTextNode(node)
        ? node.value
        : defaultTreeAdapter.isElementNode(node)
          ? textIn(node)
          : '',
    )
    .join('');
}

function collected(nodes: readonly Node[]): Pick<Parsed, 'elements' | 'texts'> {
  const elements: Element[] = [];
  const texts = new Set<string>();
  const visit = (node: Node) => {
    if (defaultTreeAdapter.isTextNode(node)) texts.add(node.value.trim());
    if (!defaultTreeAdapter.isElementNode(node)) return;
    elements.push(node);
    for (const child of node.childNodes) visit(child);
  };
  for (const node of nodes) visit(node);
  return { elements, texts };
}
