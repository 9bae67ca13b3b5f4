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
