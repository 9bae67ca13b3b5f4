import * as fc from 'fast-check';
import type { Endpoint } from '../../schemas/endpoints.ts';
import type { Known } from '../known.ts';

/** Version-4 UUIDs that the fixture does not know, neither as a user nor as a deposit. */
export const unknownUuid = (known: Known): fc.Arbitrary<string> =>
  anyUuid.filter((id) => !known.userById.has(id) && !known.depositById.has(id));

// It takes a while to make, and most lookups are drawn from it.
const anyUuid = fc.uuid({ version: 4 });

/** UUIDs that the fixture does not know, one for each number below a million, always the same ones. */
export function unknownIdAt(known: Known, nth: number): string {
  for (let tail = nth; ; tail += 1_000_000) {
    const id = `0badc0de-0000-4000-8000-${String(tail).padStart(12, '0')}`;
    if (!known.userById.has(id) && !known.depositById.has(id)) return id;
  }
}

/** The first of them. */
export const unknownIds = (known: Known, count: number): readonly string[] =>
  Array.from({ length: count }, (_, nth) => unknownIdAt(known, nth));

/** A UUID that the fixture does not know, always the same. */
export const unknownId = (known: Known) => unknownIdAt(known, 0);

/** An id that the endpoint would find, if the fixture has one; else an unknown one. */
export function findableId(endpoint: Endpoint, known: Known): string {
  const id = endpoint === 'user-status' ? known.members[0]?.user_id : known.executed[0]?.reference_id;
  return id ?? unknownId(known);
}

/** The letters of an id in the given cases, one flag a letter, used again from the start. */
export function withLetterCase(id: string, flags: readonly boolean[]): string {
  let letter = 0;
  return id.replace(/[a-f]/gi, (digit) =>
    flags[letter++ % flags.length] === true ? digit.toUpperCase() : digit.toLowerCase(),
  );
}

/** Whether another letter case gives another text. */
export const hasLetters = (id: string) => /[a-f]/i.test(id);

/** Percent-encodes the characters at the places where the flags, used again from the start, are set. */
export function percentEncoded(id: string, flags: readonly boolean[]): string {
  return [...id]
    .map((character, at) =>
      flags[at % flags.length] === true
        ? `%${character.charCodeAt(0).toString(16).toUpperCase()}`
        : character,
    )
    .join('');
}

/** At most so many items, evenly spaced over the list. */
export function spread<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)]!);
}
