import type { Known } from '../known.ts';
import { fingerprint } from '../request.ts';
import type { Case, Draw, Property } from '../requirement.ts';

/** An input of the draw. */
export interface Drawn {
  readonly item: Case;
  /** Where it stands in the draw: what a path begins with. */
  readonly index: number;
  /** What tells each of its requests from others. */
  readonly names: readonly string[];
}

const lists = new WeakMap<readonly Case[], readonly Drawn[]>();

/** The distinct inputs of a property in the order in which they are tried; made once of the same draw. */
export function drawn(property: Property, known: Known, draw: Draw): readonly Drawn[] {
  const cases = property.draw(known, draw);
  const list = lists.get(cases) ?? distinctOf(cases);
  lists.set(cases, list);
  return list;
}

/** Each distinct case once. */
export const distinctOf = (cases: readonly Case[]) => evenly(withoutTwins(cases));

function withoutTwins(cases: readonly Case[]): readonly Drawn[] {
  const seen = new Set<string>();
  const distinct: Drawn[] = [];
  for (const [index, item] of cases.entries()) {
    const names = item.requests.map(fingerprint);
    const name = names.length === 1 ? names[0]! : names.join('\n');
    if (seen.has(name)) continue;
    seen.add(name);
    distinct.push({ item, index, names });
  }
  return distinct;
}

/** In an order whose beginnings, however short, are spread evenly over the list. */
export function evenly<Item>(list: readonly Item[]): readonly Item[] {
  const bits = Math.ceil(Math.log2(Math.max(1, list.length)));
  return Array.from({ length: 2 ** bits }, (_, at) => {
    let place = 0;
    for (let bit = 0; bit < bits; bit++) place = place * 2 + ((at >> bit) & 1);
    return list[place];
  }).filter((item) => item !== undefined);
}
