import * as fc from 'fast-check';

/** Other spellings of a UUID (RFC 9562 4 knows one): what lenient parsers accept. */
const spellings: readonly ((uuid: string) => string)[] = [
  (uuid) => `{${uuid}}`,
  (uuid) => `(${uuid})`,
  (uuid) => `urn:uuid:${uuid}`,
  (uuid) => `URN:UUID:${uuid.toUpperCase()}`,
  (uuid) => uuid.replaceAll('-', ''),
  (uuid) => `{${uuid.replaceAll('-', '')}}`,
  (uuid) => ` ${uuid}`,
  (uuid) => `${uuid} `,
  (uuid) => `\t${uuid}`,
  (uuid) => `${uuid}\r\n`,
  (uuid) => `\n${uuid}`,
  (uuid) => `${uuid}\u00a0`,
  ...[...'01234567cdef'].map((variant) => (uuid: string) => uuid.slice(0, 19) + variant + uuid.slice(20)),
];

/** One of each. */
export const alternativeExamples = (uuid: string): readonly string[] => spellings.map((spell) => spell(uuid));

/** Another spelling of a drawn UUID. */
export function alternative(uuid: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(uuid, fc.constantFrom(...spellings)).map(([text, spell]) => spell(text));
}
