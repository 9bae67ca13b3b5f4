import { packUuid, packUuidOfAnyCase, WORDS } from './packed-uuid.ts';

/** Finds things by a UUID in lower case, whatever letter case they write it in. */
export interface IdIndex {
  /**
   * Position of the thing that has the id, the last one where several have it; −1 where none has.
   *
   * @param id in lower case
   */
  find(id: string): number;
  /** The same for an id in any letter case. */
  findInAnyCase(id: string): number;
  /** Positions that have the id of an earlier one, each with the position of the first. */
  readonly twins: readonly (readonly [later: number, first: number])[];
  /** Positions whose id a later one has as well. */
  readonly outdone: ReadonlySet<number>;
}

const made = new WeakMap<readonly object[], IdIndex>();

/**
 * An index of a list of things by their ids, made once for each list, which must not change after.
 * It takes 32 to 48 bytes a thing, and nothing that the garbage collector would have to look at.
 */
export function indexById<Item extends object>(
  items: readonly Item[],
  idOf: (item: Item) => string,
): IdIndex {
  const index = made.get(items) ?? makeIndex(items.length, (position) => idOf(items[position]!));
  made.set(items, index);
  return index;
}

/** Slots are pairs of hash and position + 1, side by side; at least half of them stay free. */
function makeIndex(length: number, idAt: (position: number) => string): IdIndex {
  const mask = 2 ** Math.ceil(Math.log2(length * 2 + 2)) - 1;
  const slots = new Int32Array(2 * (mask + 1));
  /** The id of each thing, and behind them the one that is looked for. */
  const words = new Int32Array(WORDS * (length + 1));
  const wanted = WORDS * length;
  /** Ids that are no UUIDs: a fixture that was not read from a file may hold some. */
  const others = new Map<string, number>();
  const isSame = (one: number, other: number) =>
    words[one] === words[other] &&
    words[one + 1] === words[other + 1] &&
    words[one + 2] === words[other + 2] &&
    words[one + 3] === words[other + 3];
  /** The slot that holds the id at a place, or the free one where it would be. */
  const slotOf = (place: number, hash: number) => {
    let slot = hash & mask;
    for (;;) {
      const taken = slots[2 * slot + 1]!;
      if (taken === 0 || (slots[2 * slot] === hash && isSame(WORDS * (taken - 1), place))) return slot;
      slot = (slot + 1) & mask;
    }
  };
  /** Takes the id for that of the position, and says who had it before; −1 where nobody did. */
  const put = (id: string, position: number): number => {
    if (!packUuidOfAnyCase(id, words, WORDS * position)) {
      const other = inLowerCase(id);
      const earlier = others.get(other) ?? -1;
      others.set(other, position);
      return earlier;
    }
    const hash = hashOf(words, WORDS * position);
    const slot = slotOf(WORDS * position, hash);
    const earlier = slots[2 * slot + 1]! - 1;
    slots[2 * slot] = hash;
    slots[2 * slot + 1] = position + 1;
    return earlier;
  };
  const twins: (readonly [number, number])[] = [];
  const outdone = new Set<number>();
  const firsts = new Map<string, number>();
  for (let position = 0; position < length; position++) {
    const earlier = put(idAt(position), position);
    if (earlier < 0) continue;
    const id = inLowerCase(idAt(position));
    const first = firsts.get(id) ?? earlier;
    firsts.set(id, first);
    twins.push([position, first]);
    outdone.add(earlier);
  }
  const findWanted = () => slots[2 * slotOf(wanted, hashOf(words, wanted)) + 1]! - 1;
  return {
    find: (id) => (packUuid(id, words, wanted) ? findWanted() : (others.get(id) ?? -1)),
    findInAnyCase: (id) =>
      packUuidOfAnyCase(id, words, wanted) ? findWanted() : (others.get(inLowerCase(id)) ?? -1),
    twins,
    outdone,
  };
}

/** All bits of the id go into all bits of the hash: neighbouring ids may differ in their last digit alone. */
function hashOf(words: Int32Array, at: number): number {
  let hash = 0;
  for (let word = at; word < at + WORDS; word++) {
    hash = Math.imul(hash ^ words[word]!, 0x85ebca6b);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** As `toLowerCase`, which makes a new string also where there is nothing to do. */
export function inLowerCase(id: string): string {
  let bits = 0;
  for (let at = 0; at < id.length; at++) {
    const code = id.charCodeAt(at);
    // Bit 7 and above: not ASCII. Bits 6 and 5 of a capital are 1 and 0.
    bits |= (code & ~0x7f) | (code & 0x40 & ~(code << 1));
  }
  return bits === 0 ? id : id.toLowerCase();
}
