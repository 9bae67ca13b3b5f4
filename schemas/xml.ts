/** An element of an XML document: attributes that are undefined are left out. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly children: readonly (XmlElement | string)[];
}

/** Makes an element. Names are written as they are: they must be XML names. */
export function element(
  name: string,
  attributes: XmlElement['attributes'],
  children: XmlElement['children'] = [],
): XmlElement {
  return { name, attributes, children };
}

/** A document, indented by two; an element with text in it is one piece, so that no space is added to the text. */
export function xmlDocument(root: XmlElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${written(root, '')}\n`;
}

function written({ name, attributes, children }: XmlElement, indent: string): string {
  const start = `${indent}<${name}${Object.entries(attributes).map(attribute).join('')}`;
  if (children.length === 0) return `${start}/>`;
  const isBlock = children.every((child) => typeof child !== 'string');
  const inner = children.map((child) =>
    typeof child === 'string' ? escaped(child) : written(child, isBlock ? `${indent}  ` : ''),
  );
  return isBlock
    ? `${start}>\n${inner.join('\n')}\n${indent}</${name}>`
    : `${start}>${inner.join('')}</${name}>`;
}

const attribute = ([name, value]: readonly [string, string | number | undefined]): string =>
  value === undefined ? '' : ` ${name}="${escaped(String(value)).replaceAll('\n', '&#10;')}"`;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * What XML 1.0 cannot hold, not even escaped (all controls but tab and line breaks, halves of
 * surrogate pairs, U+FFFE, U+FFFF), and a carriage return, which its readers change.
 */
const UNHOLDABLE = /[^\t\n\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Text as XML, in an attribute as well as between tags; what XML cannot hold shows as `\u{…}`. */
function escaped(text: string): string {
  return text
    .replaceAll(UNHOLDABLE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
    .replaceAll(/[&<>"]/g, (character) => entities[character]!);
}
