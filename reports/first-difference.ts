/** Index of the first character in which two texts differ; the length of both where none does. */
export function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  return Math.min(characterStart(a, at), characterStart(b, at));
}

/** The index itself, or the one before where it lies in the middle of a surrogate pair. */
export function characterStart(text: string, index: number): number {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff ? index - 1 : index;
}

/**
 * What differs at an index, by code points: letters that look the same may not be. Undefined where both are
 * ASCII characters, which everybody can tell apart.
 */
export function codePointsAt(at: number, expected: string, actual: string): string | undefined {
  const wanted = expected.codePointAt(at);
  const got = actual.codePointAt(at);
  const isPlain = Math.max(wanted ?? 0, got ?? 0) < 0x80;
  return isPlain ? undefined : `${named(got)} where ${named(wanted)} is expected`;
}

function named(codePoint: number | undefined): string {
  return codePoint === undefined ? 'the end' : `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
}
