import * as fc from 'fast-check';
import { spread } from '../rule.ts';

/** An arbitrary is made by a call with its values as arguments, of which there can be so many. */
const MOST_VALUES = 10_000;

/** One of the items; of very many, one of those that are evenly spaced over them. */
export const oneOf = <Item>(items: readonly Item[]): fc.Arbitrary<Item> =>
  fc.constantFrom(...spread(items, MOST_VALUES));
