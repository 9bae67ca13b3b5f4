import { countIn } from './fields.ts';

/** Most items that one answer lists, unless told otherwise. */
export const PAGE = 1000;

/** What the query of every list may hold, in words. */
export const listQuery = {
  contains: 'only those that hold this text in an id, a partner, a name or a state, in any letter case',
  offset: 'how many to pass over',
  limit: `at most so many (${PAGE})`,
} as const;

/** One part of a list, and how long the whole is. */
export interface Part<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** Whether a text holds what is looked for. */
export type Holds = (text: string | null) => boolean;

/**
 * The part of a list that a query asks for.
 *
 * @param fitsIf whether an item holds, in one of its texts, what is looked for; asked of every item of a
 *   list that may be very long
 */
export function partOf<Item>(
  all: readonly Item[],
  query: URLSearchParams,
  fitsIf: (holds: Holds) => (item: Item) => boolean,
): Part<Item> {
  const wanted = query.get('contains')?.trim() ?? '';
  const found = wanted === '' ? all : all.filter(fitsIf(holderOf(wanted)));
  const offset = countIn(query, 'offset', 0);
  return { items: found.slice(offset, offset + countIn(query, 'limit', PAGE)), total: found.length };
}

/** In any letter case; a pattern makes no copy of each text, as changing its case would. */
function holderOf(wanted: string): Holds {
  const pattern = new RegExp(wanted.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'i');
  return (text) => text !== null && pattern.test(text);
}
