/** What a text is, seen as a UUID (RFC 9562 4). */
export type UuidClass =
  /** Version 4, RFC variant. */
  | 'v4'
  /** Version 1, 2, 3, 5, 6, 7 or 8, RFC variant. */
  | 'other-version'
  /** RFC variant, but a version that no RFC names. */
  | 'unknown-version'
  | 'nil'
  | 'max'
  /** A UUID written in another way: braced, as a URN, without hyphens, among white space, with other variant bits. */
  | 'alternative-spelling'
  | 'empty'
  /** Not a UUID in any spelling. */
  | 'malformed';

const canonical = /^[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Says which one rule a text breaks as a UUID, so that a probe stands for that rule and no other.
 * A single line feed at the end counts as malformed: it is what an unanchored end lets through,
 * where surrounding white space is what trimming lets through.
 */
export function classifyUuid(text: string): UuidClass {
  const lower = text.toLowerCase();
  const match = canonical.exec(lower);
  if (match !== null) return classifyCanonical(lower, match[1]!, match[2]!);
  if (text === '') return 'empty';
  if (/[^\s]\n$/.test(text) && canonical.test(lower.slice(0, -1))) return 'malformed';
  return canonical.test(respell(lower)) ? 'alternative-spelling' : 'malformed';
}

function classifyCanonical(lower: string, version: string, variant: string): UuidClass {
  if (/^[0-]+$/.test(lower)) return 'nil';
  if (/^[f-]+$/.test(lower)) return 'max';
  if (!'89ab'.includes(variant)) return 'alternative-spelling';
  if (version === '4') return 'v4';
  return '1235678'.includes(version) ? 'other-version' : 'unknown-version';
}

/** What trimming takes off, in JavaScript or in Python. */
// oxlint-disable-next-line no-control-regex -- control characters are what Python trims
const whiteSpaceAround = /^[\s\u0085\u001c-\u001f]+|[\s\u0085\u001c-\u001f]+$/g;

/** Takes off, layer by layer, what other spellings wrap around a UUID. */
function respell(lower: string): string {
  const bare = lower
    .replace(whiteSpaceAround, '')
    .replace(/^\{(.*)\}$/s, '$1')
    .replace(/^\((.*)\)$/s, '$1')
    .replace(/^urn:uuid:/, '')
    .replace(whiteSpaceAround, '');
  if (bare !== lower) return respell(bare);
  return /^[0-9a-f]{32}$/.test(bare) ? hyphenate(bare) : bare;
}

/** 32 hexadecimal digits as 8-4-4-4-12. */
function hyphenate(digits: string): string {
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** The UUID that a text spells, as RFC 9562 4 writes it in lower case. */
export const canonicalOf = (text: string) => respell(text.toLowerCase());
