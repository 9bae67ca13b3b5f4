import * as fc from 'fast-check';
import { encodeValue } from '../request.ts';
import { classifyUuid, type UuidClass } from '../model/uuid.ts';

/** A way in which a query fails to name a UUID, made of a good one. */
export interface Malformation {
  /** The queries that are always tried; undefined: no query. */
  readonly examples: (parameter: string, uuid: string) => readonly (string | undefined)[];
  /** Where further ones are drawn from. */
  readonly drawn?: (parameter: string, uuid: fc.Arbitrary<string>) => fc.Arbitrary<string>;
}

/** A way in which a text fails to be a UUID. */
interface Mistake {
  readonly of: (uuid: string) => readonly string[];
  /** Where further ones are drawn from. */
  readonly drawn?: (uuid: fc.Arbitrary<string>) => fc.Arbitrary<string>;
}

const hexPlaces = [...'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx'].flatMap((mark, at) =>
  mark === 'x' ? [at] : [],
);
const hyphenPlaces = [8, 13, 18, 23];
const groupStarts = [0, 9, 14, 19, 24];

const put = (text: string, at: number, piece: string, instead = piece.length) =>
  text.slice(0, at) + piece + text.slice(at + instead);

/** Characters that a class of hexadecimal digits must not let in, near and far. */
const strangeDigits = [
  'g',
  'G',
  'z',
  '_',
  '.',
  ':',
  '/',
  '@',
  '`',
  ' ',
  '+',
  '\u0661',
  '\uff11',
  '\uff41',
  '\u0430',
  '\u{1d7d9}',
];

/** What stands before or after a UUID in servers that look for one instead of at one. */
const surroundings: readonly (readonly [string, string])[] = [
  ['', 'x'],
  ['x', ''],
  ['', '0'],
  ['0', ''],
  ['', '-'],
  ['-', ''],
  ['', '\nx'],
  ['x\n', ''],
  ['', '\r\nx'],
  ['', '\0'],
  ['\0', ''],
  ['', '\0x'],
  ['', ','],
  ['', '/'],
  ['../', ''],
  ['', "' OR '1'='1"],
  ["'", "'"],
  ['"', '"'],
  ['', ';'],
  ['', '#'],
  ['', '?x=1'],
  ['', '%'],
  ['', '*'],
  ['', '\\'],
  ['', '.json'],
  ['{', ''],
  ['', '}'],
  ['[', ']'],
  ['<', '>'],
  ['uuid:', ''],
  ['', ' x'],
  ['x ', ''],
  ['', '\u0301'],
];

/** Any character that UTF-8 can carry. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff })
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

/** Texts that are no UUID in any spelling. */
const mistakes = {
  'text before or after': {
    of: (uuid) => [
      ...surroundings.map(([before, after]) => before + uuid + after),
      `${uuid},${uuid}`,
      uuid + uuid,
    ],
    drawn: (uuid) =>
      fc
        .tuple(
          fc.string({ unit: anyCharacter, maxLength: 3 }),
          uuid,
          fc.string({ unit: anyCharacter, maxLength: 3 }),
        )
        .map((parts) => parts.join('')),
  },
  'a line feed after': { of: (uuid) => [`${uuid}\n`] },
  'a character that is no hexadecimal digit': {
    of: (uuid) => [
      ...hexPlaces.map((at) => put(uuid, at, 'g')),
      ...strangeDigits.slice(1).map((digit, nth) => put(uuid, hexPlaces[(nth * 5) % 32]!, digit, 1)),
      ...groupStarts.map((at) => put(uuid, at + 1, '_')),
    ],
    drawn: (uuid) =>
      fc
        .tuple(
          uuid,
          fc.constantFrom(...hexPlaces),
          fc.oneof(
            fc.constantFrom(...strangeDigits),
            fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
          ),
        )
        .map(([text, at, digit]) => put(text, at, digit, 1)),
  },
  'a character less': {
    of: (uuid) => [
      ...groupStarts.map((at) => put(uuid, at + 1, '', 1)),
      ...hyphenPlaces.map((at) => put(uuid, at, '', 1)),
    ],
    drawn: (uuid) => fc.tuple(uuid, fc.nat(35)).map(([text, at]) => put(text, at, '', 1)),
  },
  'a character more': {
    of: (uuid) => [
      ...groupStarts.map((at) => put(uuid, at + 1, '0', 0)),
      ...hyphenPlaces.map((at) => put(uuid, at, '-', 0)),
    ],
    drawn: (uuid) =>
      fc
        .tuple(uuid, fc.nat(36), fc.constantFrom(...'0123456789abcdef-'))
        .map(([text, at, digit]) => put(text, at, digit, 0)),
  },
  'a hyphen moved': {
    of: (uuid) =>
      hyphenPlaces.flatMap((at) => [
        put(uuid, at - 1, `-${uuid[at - 1]}`),
        put(uuid, at, `${uuid[at + 1]}-`),
      ]),
    drawn: (uuid) =>
      fc
        .tuple(uuid, fc.uniqueArray(fc.integer({ min: 1, max: 31 }), { minLength: 1, maxLength: 6 }))
        .map(([text, places]) =>
          [...text.replaceAll('-', '')]
            .map((digit, at) => (places.includes(at) ? `-${digit}` : digit))
            .join(''),
        ),
  },
  'another sign for a hyphen': {
    of: (uuid) =>
      ['_', ' ', '.', ':', '\u2010', '\u2013', '\uff0d'].map((sign) => uuid.replaceAll('-', sign)),
    drawn: (uuid) =>
      fc
        .tuple(
          uuid,
          fc.constantFrom(...hyphenPlaces),
          fc.constantFrom('_', ' ', '.', ':', '0', '\u2010', '\u2013', '\u00ad'),
        )
        .map(([text, at, sign]) => put(text, at, sign)),
  },
  'what lenient parsers take': {
    of: (uuid) => [
      '1-1-1-1-1',
      '0-0-4000-8000-1',
      uuid.replace(/(^|-)0*(?=[0-9a-f])/g, '$1').replace(/[0-9a-f]$/, ''),
      `0${uuid}`,
      `0x${uuid.replaceAll('-', '').slice(2)}`,
      `+${uuid.replaceAll('-', '').slice(1)}`,
      `${uuid.replaceAll('-', '').slice(0, 15)}_${uuid.replaceAll('-', '').slice(16)}`,
      uuid.replaceAll('-', '').replace(/(.{4})(?=.)/g, '$1-'),
      `${uuid.replaceAll('-', '').slice(0, 16)}-${uuid.replaceAll('-', '').slice(16)}`,
      `{${uuid.replaceAll('-', '').slice(0, 8)}`,
      uuid.replace(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
      uuid.replaceAll('1', 'l').replaceAll('0', 'O'),
      uuid.replaceAll('1', 'I').replaceAll('0', 'o'),
      `${uuid.slice(0, 9)}O${uuid.slice(10)}`,
      `${uuid.slice(0, 9)}l${uuid.slice(10)}`,
      `%${uuid.charCodeAt(0).toString(16)}${uuid.slice(1)}`,
      uuid.replaceAll('-', '%2D'),
      `${uuid}%00`,
      `${uuid}%20`,
      uuid.replace(/[0-9]/g, (digit) => String.fromCodePoint(0x0660 + Number(digit))),
    ],
  },
  'only the length or the form of one': {
    of: () => [
      'z'.repeat(36),
      '-'.repeat(36),
      '1'.repeat(36),
      'zzzzzzzz-zzzz-4zzz-8zzz-zzzzzzzzzzzz',
      'not-a-uuid',
      'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx',
    ],
  },
  'a part of one': {
    of: (uuid) => [uuid.slice(0, 35), uuid.slice(1), uuid.slice(0, 8), uuid.slice(0, 23), uuid.slice(24)],
    drawn: (uuid) =>
      fc.tuple(uuid, fc.integer({ min: 1, max: 35 })).map(([text, length]) => text.slice(0, length)),
  },
  'a long value': {
    of: (uuid) => [
      'a'.repeat(600),
      `${uuid}${'0'.repeat(600)}`,
      uuid.repeat(28),
      '\0'.repeat(300),
      'x'.repeat(1024),
    ],
    drawn: () => fc.integer({ min: 100, max: 1024 }).map((length) => '0'.repeat(length)),
  },
  'something else': {
    of: () => [
      '0',
      '1',
      '-1',
      '12345',
      '1e5',
      '1.5',
      'NaN',
      'null',
      'undefined',
      'true',
      '[]',
      '{}',
      '*',
      '%',
      "' OR '1'='1",
      "'; DROP TABLE users; --",
      '../../etc/passwd',
      '${7*7}',
      '{{7*7}}',
      '<script>alert(1)</script>',
      '__proto__',
      'constructor',
      'user@example.com',
      '\u0001\u0002',
      '\u007f',
      '\u{1f600}',
      '\u202e',
    ],
    drawn: () =>
      fc.oneof(
        fc.string({ unit: anyCharacter, minLength: 1 }),
        fc.string({ minLength: 1 }),
        fc.integer().map(String),
      ),
  },
} as const satisfies Record<string, Mistake>;

/** Other spellings of a UUID (RFC 9562 4 knows one): what lenient parsers accept. */
const spellings = {
  'braces or parentheses': (uuid) => [`{${uuid}}`, `(${uuid})`, `{${uuid.replaceAll('-', '')}}`],
  'urn:uuid:': (uuid) => [`urn:uuid:${uuid}`, `URN:UUID:${uuid.toUpperCase()}`],
  'no hyphens': (uuid) => [uuid.replaceAll('-', '')],
  'white space around': (uuid) => [
    ` ${uuid}`,
    `${uuid} `,
    `\t${uuid}`,
    `${uuid}\r\n`,
    `\n${uuid}`,
    `${uuid}\u00a0`,
  ],
  'other variant bits': (uuid) =>
    [...'01234567cdef'].map((variant) => uuid.slice(0, 19) + variant + uuid.slice(20)),
} as const satisfies Record<string, (uuid: string) => readonly string[]>;

/** Queries that attack the parser before any check of the id. */
const hostile = {
  'broken percent-encoding': (parameter, uuid) =>
    ['%', '%zz', '%4', '%E0%A4%A', '%ff', '%C0%AF', '%ED%A0%80', '%u0031', `${uuid}%`, `${uuid}%2`]
      .map((value): string => `${parameter}=${value}`)
      .concat('%'),
  'brackets or a strange name': (parameter, uuid) => [
    ...['[]=', '[]=x', '[0]=x', '[a]=x', '[a][b]=x', '[__proto__]=x', '.x=1', '=='].map(
      (rest) => parameter + rest,
    ),
    ...['[]', '[0]', '[toString]'].map((rest) => `${parameter}${rest}=${uuid}`),
    `=${uuid}`,
    '&&&',
  ],
  '8 KiB': (parameter, uuid) => [
    `${parameter}=${'a'.repeat(8192)}`,
    `${parameter}=${uuid}${'0'.repeat(8156)}`,
    `${parameter}=${'%00'.repeat(2730)}`,
    `${parameter}=x${'&x=1'.repeat(2000)}`,
  ],
} as const satisfies Record<string, Malformation['examples']>;

/** Keeps the texts that break this rule and no other. */
const textsOf = (kind: UuidClass, { of, drawn }: Mistake): Malformation => ({
  examples: (parameter, uuid) => {
    const texts = of(uuid).filter((text) => classifyUuid(text) === kind);
    return [...new Set(texts)].map((text) => `${parameter}=${encodeValue(text)}`);
  },
  ...(drawn === undefined
    ? {}
    : {
        drawn: (parameter, uuid) =>
          drawn(uuid)
            .filter((text) => classifyUuid(text) === kind)
            .map((text) => `${parameter}=${encodeValue(text)}`),
      }),
});

const mapped = <Name extends string, One, Other>(
  record: Readonly<Record<Name, One>>,
  change: (one: One) => Other,
) =>
  Object.fromEntries(Object.entries<One>(record).map(([name, one]) => [name, change(one)])) as Record<
    Name,
    Other
  >;

/** Every way to fail, by name. */
export const malformations: Readonly<Record<string, Malformation>> = {
  'no parameter': {
    examples: (parameter, uuid) => [
      undefined,
      '',
      'other=1',
      `id=${uuid}`,
      `${parameter === 'user_id' ? 'reference_id' : 'user_id'}=${uuid}`,
    ],
  },
  'an empty value': {
    examples: (parameter) => [`${parameter}=`, `${parameter}=&other=1`, parameter],
  },
  ...mapped<keyof typeof mistakes, Mistake, Malformation>(mistakes, (mistake) =>
    textsOf('malformed', mistake),
  ),
  ...mapped(spellings, (of) => textsOf('alternative-spelling', { of })),
  'the nil or the max UUID': {
    examples: (parameter) => [
      `${parameter}=00000000-0000-0000-0000-000000000000`,
      `${parameter}=ffffffff-ffff-ffff-ffff-ffffffffffff`,
    ],
  },
  'no known version': {
    examples: (parameter, uuid) =>
      [...'09abcdef'].map((version) => `${parameter}=${uuid.slice(0, 14)}${version}${uuid.slice(15)}`),
  },
  ...mapped(hostile, (examples) => ({ examples })),
};
