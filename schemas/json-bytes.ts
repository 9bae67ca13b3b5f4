/** How deep a place of a JSON text lies in arrays and objects, and whether in a string. */
export interface Nesting {
  depth: number;
  isInString: boolean;
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];

/**
 * The next comma, or end of an array or object, that does not lie in anything nested; the length of
 * the bytes where there is none yet, or one more where the next byte is escaped.
 *
 * @param nesting of the place `at`; becomes that of the place found
 */
export function nextBoundary(bytes: Uint8Array, at: number, nesting: Nesting): number {
  let { depth, isInString } = nesting;
  const { length } = bytes;
  let place = at;
  while (place < length) {
    const byte = bytes[place]!;
    if (isInString) {
      if (byte === QUOTE) isInString = false;
      else if (byte === BACKSLASH) place += 1;
    } else if (byte === QUOTE) isInString = true;
    // [ and { are 5B and 7B, ] and } are 5D and 7D.
    else if ((byte | 0x20) === 0x7b) depth += 1;
    else if ((byte | 0x20) === 0x7d) {
      if (depth === 0) break;
      depth -= 1;
    } else if (byte === COMMA && depth === 0) break;
    place += 1;
  }
  nesting.depth = depth;
  nesting.isInString = isInString;
  return place;
}

/** Behind the closing quote of a string; −1 where it is not there yet. */
export function stringEnd(bytes: Uint8Array, at: number): number {
  let place = at;
  while (place < bytes.length) {
    if (bytes[place] === QUOTE) return place + 1;
    place += bytes[place] === BACKSLASH ? 2 : 1;
  }
  return -1;
}

/** The next byte that is no white space of JSON. */
export function skipBlank(bytes: Uint8Array, at: number): number {
  let place = at;
  while (bytes[place] === 0x20 || bytes[place] === 0x0a || bytes[place] === 0x0d || bytes[place] === 0x09)
    place += 1;
  return place;
}
