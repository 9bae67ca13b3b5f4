import type { Turn } from '../limits/limiter.ts';

/** How many items may be held that have to wait. */
const MAX_HELD = 4096;

/** What to do next. */
export type Next<Entry> =
  { readonly kind: 'send'; readonly item: Entry } | (Turn & { readonly kind: 'at' | 'reply' | 'never' });

/** An item and its place in the order. */
interface Placed<Entry> {
  readonly item: Entry;
  readonly place: number;
}

/**
 * Items in their order, except that those that have to wait for a limiter let others pass.
 *
 * @param groupOf items of the same group have the same turn
 */
export function createPool<Entry>(source: Iterator<Entry>, groupOf: (item: Entry) => string) {
  const groups = new Map<string, Placed<Entry>[]>();
  /** Groups of which another item than the one that was put back shows whether they may go. */
  const refused = new Set<string>();
  let [held, taken, putBack] = [0, 0, 0];
  const hold = (item: Entry, place: number): string => {
    const group = groupOf(item);
    const list = groups.get(group) ?? [];
    groups.set(group, list);
    if (place < 0) list.unshift({ item, place });
    else list.push({ item, place });
    held++;
    return group;
  };
  /** Groups with items, the one with the first item first. */
  const heldGroups = () =>
    [...groups.keys()]
      .filter((group) => groups.get(group)!.length > 0)
      .toSorted((one, other) => groups.get(one)![0]!.place - groups.get(other)![0]!.place);
  const sendFirstOf = (group: string): Next<Entry> => {
    const list = groups.get(group)!;
    const other = refused.delete(group) ? list.findIndex(({ place }) => place >= 0) : 0;
    held--;
    return { kind: 'send', item: list.splice(Math.max(0, other), 1)[0]!.item };
  };
  return {
    /** The first item that may be sent now, or else the earliest turn; undefined if no item is left. */
    next: (turnOf: (item: Entry) => Turn): Next<Entry> | undefined => {
      let first: Exclude<Turn, { kind: 'now' }> | undefined;
      const waiting = new Set<string>();
      const mayGo = (group: string): boolean => {
        const turn = turnOf(groups.get(group)![0]!.item);
        if (turn.kind === 'now') return true;
        waiting.add(group);
        if (first === undefined || rank(turn) < rank(first)) first = turn;
        return false;
      };
      if (held > 0) for (const group of heldGroups()) if (mayGo(group)) return sendFirstOf(group);
      for (let room = MAX_HELD - held; room > 0; room--) {
        const { value, done } = source.next();
        if (done === true) break;
        const group = hold(value, taken++);
        if (!waiting.has(group) && mayGo(group)) return sendFirstOf(group);
      }
      return first;
    },
    /** Puts back an item that was refused: the second of its group, before the others. */
    putBack: (item: Entry): void => void refused.add(hold(item, --putBack)),
    /** Items that were not sent, as far as they are known. */
    held: (): readonly Entry[] =>
      [...groups.values()]
        .flat()
        .toSorted((one, other) => one.place - other.place)
        .map(({ item }) => item),
  };
}

/** A reply comes before any time. */
const rank = (turn: Turn) => (turn.kind === 'at' ? turn.at : turn.kind === 'never' ? Infinity : 0);
