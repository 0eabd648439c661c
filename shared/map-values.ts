/** A map, a map with weak keys, or a cache. */
type Values<Key, Value> = { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown };

/** Returns the value of a key. If there is none, makes the value and stores it. */
export function valueAt<Key, Value>(values: Values<Key, Value>, key: Key, make: () => Value): Value {
  const known = values.get(key);
  if (known !== undefined) return known;
  const made = make();
  values.set(key, made);
  return made;
}

/** Adds a value to the list of a key. */
export function addToList<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
