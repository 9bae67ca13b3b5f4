/** 32-bit words that a UUID takes. */
export const WORDS = 4;

const [ZERO, NINE, A, F, HYPHEN] = [0x30, 0x39, 0x61, 0x66, 0x2d];
const OTHER = 0xff;
const digitOf = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= ZERO && code <= NINE) return code - ZERO;
  return code >= A && code <= F ? code - A + 10 : OTHER;
});

/**
 * Writes a UUID as four words; two have the same words where they are the same text, and only there.
 *
 * @returns whether the text is a UUID in lower case with its hyphens; if not, nothing is written
 */
export function packUuid(id: string, into: Int32Array, at: number): boolean {
  if (id.length !== 36) return false;
  for (let place = 8; place <= 23; place += 5) if (id.charCodeAt(place) !== HYPHEN) return false;
  const first = fourDigits(id, 0);
  const second = fourDigits(id, 4);
  const third = fourDigits(id, 9);
  const fourth = fourDigits(id, 14);
  const fifth = fourDigits(id, 19);
  const sixth = fourDigits(id, 24);
  const seventh = fourDigits(id, 28);
  const eighth = fourDigits(id, 32);
  if ((first | second | third | fourth | fifth | sixth | seventh | eighth) < 0) return false;
  into[at] = (first << 16) | second;
  into[at + 1] = (third << 16) | fourth;
  into[at + 2] = (fifth << 16) | sixth;
  into[at + 3] = (seventh << 16) | eighth;
  return true;
}

/** The number that four hexadecimal digits stand for; below 0 where one is none. */
function fourDigits(id: string, at: number): number {
  const a = digit(id, at);
  const b = digit(id, at + 1);
  const c = digit(id, at + 2);
  const d = digit(id, at + 3);
  return (a | b | c | d) > 15 ? -1 : (a << 12) | (b << 8) | (c << 4) | d;
}

const digit = (id: string, at: number) => digitOf[id.charCodeAt(at)] ?? OTHER;
