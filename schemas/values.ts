type Defined<Members> = {
  [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<
    Members[Name],
    undefined
  >;
};

/** Returns a copy of an object without its undefined members. */
export function defined<Members extends object>(members: Members): Defined<Members> {
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) if (value !== undefined) rest[name] = value;
  return rest as Defined<Members>;
}

/** Returns a function that computes a value once for each object, and keeps it as long as the object. */
export function oncePer<Key extends object, Value>(compute: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, Value>();
  return (key) => {
    const found = values.get(key);
    if (found !== undefined || values.has(key)) return found as Value;
    const made = compute(key);
    values.set(key, made);
    return made;
  };
}

const unitsInMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Converts a duration such as `500ms`, `90s`, `1.5m` or `-1h` to ms; undefined for another text. */
export function parseDuration(text: string): number | undefined {
  const [, amount, unit] = /^(-?\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(amount) * unitsInMs[unit]!;
}

/** Repeats items in turn, up to `count`. */
export const repeated = <Item>(items: readonly Item[], count: number): readonly Item[] =>
  Array.from({ length: items.length && count }, (_, nth) => items[nth % items.length]!);
