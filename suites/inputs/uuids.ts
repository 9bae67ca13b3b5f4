import * as fc from 'fast-check';
import { findsUsers, otherThan, type Endpoint } from '../../schemas/endpoints.ts';
import type { Known, KnownKey } from '../known.ts';

/** Random version-4 UUIDs that are not in the fixture. */
export const unknownUuid = (known: Known): fc.Arbitrary<string> =>
  anyUuid.filter((id) => !known.userById.has(id) && !known.depositById.has(id));

// Shared: it is slow to create.
const anyUuid = fc.uuid({ version: 4 });

/** The `nth` UUID that is not in the fixture, always the same one, by default the first. `nth` is below 1,000,000. */
export function unknownId(known: Known, nth = 0): string {
  for (let tail = nth; ; tail += 1_000_000) {
    const id = `0badc0de-0000-4000-8000-${String(tail).padStart(12, '0')}`;
    if (!known.userById.has(id) && !known.depositById.has(id)) return id;
  }
}

/** The first `count` such UUIDs. */
export const unknownIds = (known: Known, count: number): readonly string[] =>
  Array.from({ length: count }, (_, nth) => unknownId(known, nth));

/** The ids that the endpoint finds with the key under test. */
export const findableIds = (endpoint: Endpoint, known: Known): readonly string[] =>
  findsUsers(endpoint)
    ? known.members.map(({ user_id }) => user_id)
    : known.executed.map(({ reference_id }) => reference_id);

/** An id that the endpoint finds, if the fixture has one; else an unknown one. */
export const findableId = (endpoint: Endpoint, known: Known): string =>
  findableIds(endpoint, known)[0] ?? unknownId(known);

/** Such an id in lower case, with letters if the fixture has one. */
export const findableLettered = (endpoint: Endpoint, known: Known): string =>
  idSeenBy({ partner: known.partner ?? '' }, endpoint, known);

/** The same for the partner of a key, of a version if there is one; any other id if the fixture has none. */
export function idSeenBy(
  { partner }: Pick<KnownKey, 'partner'>,
  endpoint: Endpoint,
  known: Known,
  version?: string,
): string {
  const { userById, depositById } = known;
  const isSeen = (user_id: string) => userById.get(user_id.toLowerCase())?.partner === partner;
  const executed = [...depositById.values()].filter(({ state }) => state === 'EXECUTED');
  const ids = findsUsers(endpoint)
    ? [...userById.keys()].filter(isSeen)
    : executed.flatMap(({ reference_id, user_id }) => (isSeen(user_id) ? [reference_id] : []));
  const of = ids.filter((id) => id[14] === version);
  return (
    of.find(hasMixableLetters) ??
    ids.find(hasMixableLetters) ??
    ids[0] ??
    findableId(endpoint, known)
  ).toLowerCase();
}

/**
 * Ids of this version close to one that the endpoint finds, and one that the other endpoint finds, or one that differs
 * in its version alone. A changed digit becomes a letter, to keep clear of data with consecutive numbers.
 */
export function neighbours(endpoint: Endpoint, known: Known, version: string): readonly string[] {
  const lettered = (of: Endpoint) => idSeenBy({ partner: known.partner ?? '' }, of, known, version);
  const [id, other] = [lettered(endpoint), lettered(otherThan(endpoint))];
  const changed = (at: number) => `${id.slice(0, at)}${id[at] === 'f' ? 'e' : 'f'}${id.slice(at + 1)}`;
  const nears = version === id[14] ? [changed(35), other, changed(0)] : [changed(35), changed(0), id];
  return nears.map((near) => near.slice(0, 14) + version + near.slice(15));
}

/** Sets the case of each letter of an id: `true` is upper case. The flags repeat. */
export function withLetterCase(id: string, flags: readonly boolean[]): string {
  let letter = 0;
  return id.replace(/[a-f]/gi, (digit) =>
    flags[letter++ % flags.length] === true ? digit.toUpperCase() : digit.toLowerCase(),
  );
}

/** A single letter cannot have mixed case. */
export const hasMixableLetters = (id: string) => id.replace(/[^a-f]/gi, '').length > 1;

/** Percent-encodes each character whose flag is set. The flags repeat. */
export function percentEncoded(id: string, flags: readonly boolean[]): string {
  return [...id]
    .map((character, at) =>
      flags[at % flags.length] === true
        ? `%${character.charCodeAt(0).toString(16).toUpperCase()}`
        : character,
    )
    .join('');
}

/** At most `most` items, evenly spaced over the list. */
export function evenSample<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)]!);
}

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
  /** The digits of a UUID in another notation: braces, URN, other hyphens, white space around; or other variant bits. */
  | 'alternative-spelling'
  | 'empty'
  /** Not a UUID in any notation. */
  | 'malformed';

const canonical = /^[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{12}$/;

/**
 * Classifies a text by the one rule of UUIDs that it breaks. What has the 32 digits of a UUID in their order, and no
 * other digit or sign but those of a notation, is another notation. A single line feed at the end is malformed: it
 * tests for an unanchored end of a pattern. Other surrounding white space tests for trimming.
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

/** Whether only white space around a text keeps it from being a UUID. */
export const isSpaced = (text: string): boolean =>
  text !== text.replace(whiteSpaceAround, '') &&
  canonical.test(text.replace(whiteSpaceAround, '').toLowerCase());

/** Removes the wrappers of other notations, one by one, and puts hyphens in their places. */
function respell(lower: string): string {
  const bare = lower
    .replace(whiteSpaceAround, '')
    .replace(/^\{(.*)\}$/s, '$1')
    .replace(/^\((.*)\)$/s, '$1')
    .replace(/^urn:uuid:/, '')
    .replace(whiteSpaceAround, '');
  if (bare !== lower) return respell(bare);
  const digits = bare.replaceAll('-', '');
  return /^[0-9a-f]{32}$/.test(digits) ? hyphenate(digits) : bare;
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
