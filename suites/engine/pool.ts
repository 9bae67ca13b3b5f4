import type { Turn } from '../limits/account.ts';

/** How many items are looked at for one that may be sent now. */
const LOOK_AHEAD = 256;

/** What to do next. */
export type Next<Item> =
  { readonly kind: 'send'; readonly item: Item } | (Turn & { readonly kind: 'at' | 'reply' | 'never' });

/**
 * Items in their order, except that those that have to wait for a limiter let others pass.
 *
 * @param groupOf items of the same group have the same turn
 */
export function createPool<Item>(source: Iterator<Item>, groupOf: (item: Item) => string) {
  const held: Item[] = [];
  /** The item at this place of those that wait; undefined if there is none. */
  const itemAt = (at: number): Item | undefined => {
    if (at === held.length && at < LOOK_AHEAD) {
      const { value, done } = source.next();
      if (done !== true) held.push(value);
    }
    return held[at];
  };
  return {
    /** The first item that may be sent now, or else the earliest turn; undefined if no item is left. */
    next: (turnOf: (item: Item) => Turn): Next<Item> | undefined => {
      const turns = new Map<string, Turn>();
      let first: Exclude<Turn, { kind: 'now' }> | undefined;
      let item: Item | undefined;
      for (let at = 0; (item = itemAt(at)) !== undefined; at++) {
        const group = groupOf(item);
        const turn = turns.get(group) ?? turnOf(item);
        turns.set(group, turn);
        if (turn.kind === 'now') {
          held.splice(at, 1);
          return { kind: 'send', item };
        }
        if (first === undefined || rank(turn) < rank(first)) first = turn;
      }
      return first;
    },
    /** Puts an item back, before the others. */
    putBack: (item: Item): void => void held.unshift(item),
    /** Items that were not sent, as far as they are known. */
    held: (): readonly Item[] => held,
  };
}

/** A reply comes before any time. */
const rank = (turn: Turn) => (turn.kind === 'at' ? turn.at : turn.kind === 'never' ? Infinity : 0);
