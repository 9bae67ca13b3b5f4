import * as fc from 'fast-check';
import { encodeValue } from '../request.ts';
import { classifyUuid, type UuidClass } from './uuids.ts';

/** Malformations of one group take turns when they are combined with other conditions. */
export type MalformationGroup =
  | 'missing'
  | 'malformed'
  /** Other notations of a UUID (RFC 9562 4). */
  | 'alternative'
  /** UUIDs without a version that an RFC names. */
  | 'unusual'
  /** Attacks on the parser. */
  | 'hostile';

/** A way to make a query invalid, given a valid UUID. */
export interface Malformation {
  readonly group: MalformationGroup;
  /** Queries that are always tried; undefined: no query. */
  readonly examples: (parameter: string, uuid: string) => Iterable<string | undefined>;
  /** Random queries of the same kind. */
  readonly drawn?: (parameter: string, uuid: fc.Arbitrary<string>) => fc.Arbitrary<string>;
}

/** Parameter values of one class of malformed UUIDs. */
function values(
  group: MalformationGroup,
  uuidClass: UuidClass,
  of: (uuid: string) => readonly string[],
  drawn?: (uuid: fc.Arbitrary<string>) => fc.Arbitrary<string>,
): Malformation {
  const isOfKind = (text: string) => classifyUuid(text) === uuidClass;
  const queryOf = (parameter: string) => (text: string) => `${parameter}=${encodeValue(text)}`;
  return {
    group,
    // One after another, because often only the first is needed.
    *examples(parameter, uuid) {
      for (const text of new Set(of(uuid))) if (isOfKind(text)) yield queryOf(parameter)(text);
    },
    ...(drawn && { drawn: (parameter, uuid) => drawn(uuid).filter(isOfKind).map(queryOf(parameter)) }),
  };
}

const raw = (group: MalformationGroup, examples: Malformation['examples']): Malformation => ({
  group,
  examples,
});

const malformed = (...texts: [Parameters<typeof values>[2], Parameters<typeof values>[3]?]) =>
  values('malformed', 'malformed', ...texts);
const spelling = (...texts: Parameters<typeof malformed>) =>
  values('alternative', 'alternative-spelling', ...texts);

const hyphenPlaces = [8, 13, 18, 23];
const hexPlaces = Array.from({ length: 36 }, (_, at) => at).filter((at) => !hyphenPlaces.includes(at));
const groupStarts = [0, 9, 14, 19, 24];
const groupEnds = [...hyphenPlaces, 36];
/** Positions where a regular expression may differ: the first two digits of each group, and its last. */
const groupPlaces = groupStarts.flatMap((at, group) => [at, at + 1, groupEnds[group]! - 1]);

const put = (text: string, at: number, piece: string, instead = piece.length) =>
  text.slice(0, at) + piece + text.slice(at + instead);

/** The format X of .NET: `{0x01234567,0x89ab,0x4def,{0x80,…}}` */
const dotNetForm = (uuid: string) => {
  const [first, second, third, ...rest] = uuid.split('-').map((group) => `0x${group}`);
  const octets = rest.join('').replaceAll('0x', '').match(/../g) ?? [];
  return `{${first},${second},${third},{${octets.map((octet) => `0x${octet}`).join(',')}}}`;
};

const withoutHyphens = (uuid: string) => uuid.replaceAll('-', '');

/** Characters that a class of hexadecimal digits must not match. */
const nonHexCharacters = [...'gGz_.:/@` +\u0661\uff11\uff41\u0430\u{1d7d9}'];

/** What a parser of numbers may take at the start of a number, and at its end. */
const signs = ['+', '-', '0x', '0X'];
const fillers = ['\0', ' ', '\t'];

/** Texts before, after and around a UUID, for servers that search for a UUID anywhere in the value. */
const before = 'x|0|-|x\n|\0|../|{|uuid:|x '.split('|');
const after =
  "x|0|-|\nx|\r\nx|\0|\0x|,|/|&|' OR '1'='1|;|#|?x=1|;x=1|;jsessionid=1|%|*|\\|.json|}| x|\u0301|\u200b".split(
    '|',
  );
const around = ["''", '""', '[]', '<>'];

/** Texts unlike any UUID. */
const nonUuids =
  " |0|1|12345|null|undefined|true|[]|*|%|' OR '1'='1|'; DROP TABLE users; --|../../etc/passwd|" +
  '${7*7}|<script>alert(1)</script>|__proto__|user@example.com|\u0001\u0002|\u{1f600}|\u202e';

/** Any Unicode scalar value. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff })
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

const fewCharacters = fc.string({ unit: anyCharacter, maxLength: 3 });

/** Malformations by name: values that are no UUID, other spellings (RFC 9562 4), attacks on the parser. */
export const malformations: Readonly<Record<string, Malformation>> = {
  'no parameter': raw('missing', (parameter, uuid) => [
    undefined,
    '',
    'other=1',
    `id=${uuid}`,
    `${parameter === 'user_id' ? 'reference_id' : 'user_id'}=${uuid}`,
  ]),
  'an empty value': raw('missing', (parameter) => [`${parameter}=`, `${parameter}=&other=1`, parameter]),
  'text before or after': malformed(
    (uuid) => [
      ...after.map((text) => uuid + text),
      ...before.map((text) => text + uuid),
      ...around.map(([opening, closing]) => `${opening}${uuid}${closing}`),
      `${uuid},${uuid}`,
      uuid + uuid,
    ],
    (uuid) => fc.tuple(fewCharacters, uuid, fewCharacters).map((parts) => parts.join('')),
  ),
  'a line feed after': malformed((uuid) => [`${uuid}\n`]),
  'a character that is no hexadecimal digit': malformed(
    (uuid) => [
      ...groupPlaces.map((at) => put(uuid, at, 'g')),
      ...nonHexCharacters.slice(1).map((digit, nth) => put(uuid, hexPlaces[(nth * 5) % 32]!, digit, 1)),
      ...groupStarts.map((at) => put(uuid, at + 1, '_')),
    ],
    (uuid) => {
      const character = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 });
      const digit = fc.oneof(fc.constantFrom(...nonHexCharacters), character);
      return fc
        .tuple(uuid, fc.constantFrom(...hexPlaces), digit)
        .map(([text, at, instead]) => put(text, at, instead, 1));
    },
  ),
  'a character less': malformed(
    (uuid) => groupStarts.map((at) => put(uuid, at + 1, '', 1)),
    (uuid) => fc.tuple(uuid, fc.nat(35)).map(([text, at]) => put(text, at, '', 1)),
  ),
  'a character more': malformed(
    (uuid) => groupStarts.map((at) => put(uuid, at + 1, '0', 0)),
    (uuid) =>
      fc
        .tuple(uuid, fc.nat(36), fc.constantFrom(...'0123456789abcdef'))
        .map(([text, at, digit]) => put(text, at, digit, 0)),
  ),
  'another sign for a hyphen': malformed(
    (uuid) => [
      ...[...'_ .'].map((sign) => uuid.replaceAll('-', sign)),
      ...[...':\u2010\u2013\uff0d'].map((sign, nth) => put(uuid, hyphenPlaces[nth]!, sign)),
    ],
    (uuid) =>
      fc
        .tuple(uuid, fc.constantFrom(...hyphenPlaces), fc.constantFrom(...'_ .:0\u2010\u2013\u00ad'))
        .map(([text, at, sign]) => put(text, at, sign)),
  ),
  'what lenient parsers take': malformed((uuid) => [
    '1-1-1-1-1',
    '0-0-4000-8000-1',
    uuid.replace(/(^|-)0*(?=[0-9a-f])/gi, '$1').slice(0, -1),
    `0${uuid}`,
    `0x${withoutHyphens(uuid).slice(2)}`,
    `+${withoutHyphens(uuid).slice(1)}`,
    put(withoutHyphens(uuid), 15, '_'),
    put(uuid, 18, ' ', 0),
    dotNetForm(uuid),
    // Symfony reads 22 digits of base 58 and 26 of base 32.
    '6LhqA3gXNz2v4T7kYcRbWd',
    '01HV6Z3F5QK8N2R9T4W7XBCDEF',
    `{${uuid.slice(0, 8)}`,
    uuid.replace(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
    put(uuid, 9, 'O'),
    put(uuid, 9, 'l'),
    uuid.replace(/[0-9]/g, (digit) => String.fromCodePoint(0x0660 + Number(digit))),
    `%${uuid.charCodeAt(0).toString(16)}${uuid.slice(1)}`,
    uuid.replaceAll('-', '%2D'),
    `${uuid}%00`,
    `${uuid}%20`,
  ]),
  // Parsers of numbers take them: Guid.TryParseExact of .NET reads each group as one.
  'a sign or filler for a digit': malformed(
    (uuid) =>
      groupStarts.flatMap((start, group) => [
        ...signs.map((sign) => put(uuid, start, sign)),
        ...fillers.map((filler) => put(uuid, groupEnds[group]! - 1, filler)),
      ]),
    (uuid) => {
      const [group, filled] = [fc.nat(groupStarts.length - 1), fc.integer({ min: 1, max: 3 })];
      const signed = fc
        .tuple(uuid, group, fc.constantFrom(...signs))
        .map(([text, nth, sign]) => put(text, groupStarts[nth]!, sign));
      const ended = fc
        .tuple(uuid, group, fc.constantFrom(...fillers), filled)
        .map(([text, nth, filler, count]) => put(text, groupEnds[nth]! - count, filler.repeat(count)));
      return fc.oneof(signed, ended);
    },
  ),
  'only the length or the form of one': malformed(() => [
    'z'.repeat(36),
    '-'.repeat(36),
    '1'.repeat(36),
    'zzzzzzzz-zzzz-4zzz-8zzz-zzzzzzzzzzzz',
    'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx',
  ]),
  'a part of one': malformed(
    (uuid) => [uuid.slice(0, 35), uuid.slice(1), uuid.slice(0, 8), uuid.slice(0, 23), uuid.slice(24)],
    (uuid) => fc.tuple(uuid, fc.integer({ min: 1, max: 35 })).map(([text, length]) => text.slice(0, length)),
  ),
  'a long value': malformed(
    (uuid) => [
      'a'.repeat(600),
      `${uuid}${'0'.repeat(600)}`,
      uuid.repeat(28),
      '\0'.repeat(300),
      'x'.repeat(1024),
    ],
    () => fc.integer({ min: 100, max: 1024 }).map((length) => '0'.repeat(length)),
  ),
  'something else': malformed(
    () => nonUuids.split('|'),
    () =>
      fc.oneof(
        fc.string({ unit: anyCharacter, minLength: 1 }),
        fc.string({ minLength: 1 }),
        fc.integer().map(String),
      ),
  ),
  'braces or parentheses': spelling((uuid) => [`{${uuid}}`, `(${uuid})`, `{${withoutHyphens(uuid)}}`]),
  'urn:uuid:': spelling((uuid) => [`urn:uuid:${uuid}`, `URN:UUID:${uuid.toUpperCase()}`]),
  // The second one is also a decimal number.
  'other hyphens': spelling(
    (uuid) => [
      withoutHyphens(uuid),
      withoutHyphens(uuid).replace(/[a-f]/gi, '8'),
      ...hyphenPlaces.flatMap((at) => [
        put(uuid, at, '', 1),
        put(uuid, at, '-', 0),
        put(uuid, at - 1, `-${uuid[at - 1]}`),
        put(uuid, at, `${uuid[at + 1]}-`),
      ]),
      withoutHyphens(uuid).replace(/(.{4})(?=.)/g, '$1-'),
      put(withoutHyphens(uuid), 16, '-', 0),
    ],
    (uuid) =>
      fc
        .tuple(uuid, fc.uniqueArray(fc.integer({ min: 1, max: 31 }), { minLength: 1, maxLength: 6 }))
        .map(([text, places]) =>
          [...withoutHyphens(text)].map((digit, at) => (places.includes(at) ? `-${digit}` : digit)).join(''),
        ),
  ),
  'white space around': spelling((uuid) => [
    ` ${uuid}`,
    `${uuid} `,
    `\t${uuid}`,
    `${uuid}\r\n`,
    `\n${uuid}`,
    `${uuid}\u00a0`,
  ]),
  'other variant bits': values('alternative', 'alternative-spelling', (uuid) =>
    [...'01234567cdef'].map((variant) => put(uuid, 19, variant)),
  ),
  'the nil UUID': raw('unusual', (parameter) => [`${parameter}=00000000-0000-0000-0000-000000000000`]),
  'the max UUID': raw('unusual', (parameter) => [`${parameter}=ffffffff-ffff-ffff-ffff-ffffffffffff`]),
  'no known version': raw('unusual', (parameter, uuid) =>
    [...'09abcdef'].map((version) => `${parameter}=${put(uuid, 14, version)}`),
  ),
  'broken percent-encoding': raw('hostile', (parameter, uuid) => [
    ...`% %zz %4 %E0%A4%A %ff %C0%AF %ED%A0%80 %u0031 ${uuid}% ${uuid}%2`
      .split(' ')
      .map((value) => `${parameter}=${value}`),
    '%',
  ]),
  'brackets or a strange name': raw('hostile', (parameter, uuid) => [
    ...'[]= []=x [0]=x [a]=x [a][b]=x [__proto__]=x .x=1 =='.split(' ').map((rest) => parameter + rest),
    ...['[]', '[0]', '[toString]'].map((rest) => `${parameter}${rest}=${uuid}`),
    `${parameter}=${uuid};x=1`,
    `=${uuid}`,
    '&&&',
  ]),
  '8 KiB': raw('hostile', (parameter, uuid) => [
    `${parameter}=${'a'.repeat(8192)}`,
    `${parameter}=${uuid}${'0'.repeat(8156)}`,
    `${parameter}=${'%00'.repeat(2730)}`,
    `${parameter}=x${'&x=1'.repeat(2000)}`,
  ]),
};
