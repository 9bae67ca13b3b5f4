import type { Lookup } from './store.ts';

/** What many worlds share, under what one of them has changed. */
export interface Overlay<Value, Base extends Lookup<Value> = Lookup<Value>> {
  readonly base: Base;
  readonly changed: Map<string, Value>;
}

/** Nothing is changed yet. */
export function overlayOn<Value, Base extends Lookup<Value> = Lookup<Value>>(
  base: Base,
): Overlay<Value, Base> {
  return { base, changed: new Map() };
}

/** The value of an id; undefined: there is none. */
export function lookIn<Value>({ base, changed }: Overlay<Value>, id: string): Value | undefined {
  return (changed.size === 0 ? undefined : changed.get(id)) ?? base.get(id);
}

/** The first value that fits; nothing is copied, for there may be millions. */
export function findIn<Value>(
  { base, changed }: Overlay<Value>,
  fits: (value: Value) => boolean,
): Value | undefined {
  for (const [id, value] of base.entries()) {
    const now = changed.get(id) ?? value;
    if (fits(now)) return now;
  }
  for (const [id, value] of changed) if (!base.has(id) && fits(value)) return value;
  return undefined;
}

/** Every value, changed ones in the place of those that they changed, new ones last. */
export function valuesOf<Value>({ base, changed }: Overlay<Value>): readonly Value[] {
  if (changed.size === 0) return [...base.values()];
  return [
    ...Array.from(base.entries(), ([id, value]) => changed.get(id) ?? value),
    ...Array.from(changed).flatMap(([id, value]) => (base.has(id) ? [] : [value])),
  ];
}
