/** Classes of texts as UUIDs (RFC 9562 4). */
export type UuidClass =
  /** Version 4, RFC variant. */
  | 'v4'
  /** Version 1, 2, 3, 5, 6, 7 or 8, RFC variant. */
  | 'other-version'
  /** RFC variant, but a version that no RFC names. */
  | 'unknown-version'
  | 'nil'
  | 'max'
  /** Another notation of a UUID: braces, URN, no hyphens, white space around it, other variant bits. */
  | 'alternative-spelling'
  | 'empty'
  /** Not a UUID in any notation. */
  | 'malformed';

const canonical = /^[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Classifies a text by the one rule of UUIDs that it breaks. A single line feed at the end is malformed: it tests
 * for an unanchored end of a pattern. Other surrounding white space tests for trimming.
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

/** White space that JavaScript or Python trims. */
// oxlint-disable-next-line no-control-regex -- control characters are what Python trims
const whiteSpaceAround = /^[\s\u0085\u001c-\u001f]+|[\s\u0085\u001c-\u001f]+$/g;

/** Removes the wrappers of other notations, one by one. */
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

/** The canonical form of a UUID, in lower case (RFC 9562 4). */
export function canonicalOf(text: string): string {
  const lower = text.toLowerCase();
  return canonical.test(lower) ? lower : respell(lower);
}
