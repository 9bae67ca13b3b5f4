/** An element of an XML document. Undefined attributes are omitted. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
  readonly children: readonly (XmlElement | string)[];
}

/** Makes an element. Names are not escaped: they must be XML names. */
export function element(
  name: string,
  attributes: XmlElement['attributes'],
  children: XmlElement['children'] = [],
): XmlElement {
  return { name, attributes, children };
}

/** A document with an indent of two. An element that contains text is not indented within: that would change the text. */
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
 * What XML 1.0 cannot contain, not even escaped (controls except tab and line breaks, halves of
 * surrogate pairs, U+FFFE, U+FFFF), and the carriage return, which parsers change.
 */
const INVALID = /[^\t\n\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

/** Text for attributes and between tags. What XML cannot contain is shown as `\u{…}`. */
function escaped(text: string): string {
  return text
    .replaceAll(INVALID, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
    .replaceAll(/[&<>"]/g, (character) => entities[character]!);
}
