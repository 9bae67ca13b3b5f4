/** What can be looked up and changed by a key. */
export interface Changeable<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

/** Values that were set since, over those that were there before: these stay as they are, and are not copied. */
export function overlay<Value extends object>(before: {
  get(key: string): Value | undefined;
}): Changeable<Value> {
  const since = new Map<string, Value>();
  return {
    get: (key) => since.get(key) ?? before.get(key),
    set: (key, value) => void since.set(key, value),
  };
}
