/** 32-bit words that a UUID takes. */
export const WORDS = 4;

const [ZERO, NINE, A, F, HYPHEN] = [0x30, 0x39, 0x61, 0x66, 0x2d];
const OTHER = 0xff;

/** What each character is worth as a hexadecimal digit. */
type Digits = Uint8Array;

const digitsWhere = (fold: (code: number) => number): Digits =>
  Uint8Array.from({ length: 128 }, (_, code) => {
    if (code >= ZERO && code <= NINE) return code - ZERO;
    const letter = fold(code);
    return letter >= A && letter <= F ? letter - A + 10 : OTHER;
  });

const lowerCase = digitsWhere((code) => code);
const anyCase = digitsWhere((code) => code | 0x20);

/**
 * Writes a UUID as four words; two have the same words where they are the same text, and only there.
 *
 * @returns whether the text is a UUID in lower case with its hyphens; if not, nothing is written
 */
export function packUuid(id: string, into: Int32Array, at: number): boolean {
  return pack(id, into, at, lowerCase);
}

/** The same for one in any letter case, which makes no difference to the words. */
export function packUuidOfAnyCase(id: string, into: Int32Array, at: number): boolean {
  return pack(id, into, at, anyCase);
}

function pack(id: string, into: Int32Array, at: number, digits: Digits): boolean {
  if (id.length !== 36) return false;
  for (let place = 8; place <= 23; place += 5) if (id.charCodeAt(place) !== HYPHEN) return false;
  const first = fourDigits(id, 0, digits);
  const second = fourDigits(id, 4, digits);
  const third = fourDigits(id, 9, digits);
  const fourth = fourDigits(id, 14, digits);
  const fifth = fourDigits(id, 19, digits);
  const sixth = fourDigits(id, 24, digits);
  const seventh = fourDigits(id, 28, digits);
  const eighth = fourDigits(id, 32, digits);
  if ((first | second | third | fourth | fifth | sixth | seventh | eighth) < 0) return false;
  into[at] = (first << 16) | second;
  into[at + 1] = (third << 16) | fourth;
  into[at + 2] = (fifth << 16) | sixth;
  into[at + 3] = (seventh << 16) | eighth;
  return true;
}

/** The number that four hexadecimal digits stand for; below 0 where one is none. */
function fourDigits(id: string, at: number, digits: Digits): number {
  const a = digits[id.charCodeAt(at)] ?? OTHER;
  const b = digits[id.charCodeAt(at + 1)] ?? OTHER;
  const c = digits[id.charCodeAt(at + 2)] ?? OTHER;
  const d = digits[id.charCodeAt(at + 3)] ?? OTHER;
  return (a | b | c | d) > 15 ? -1 : (a << 12) | (b << 8) | (c << 4) | d;
}
