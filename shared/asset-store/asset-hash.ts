const HASH = /^[0-9a-f]{64}$/;

/** Returns `hash`. Throws if it is not a SHA-256 in hexadecimal. Only such a text may be part of a path or key. */
export function checkedHash(hash: string): string {
  if (!HASH.test(hash)) throw new Error(`not a SHA-256 in hexadecimal: ${JSON.stringify(hash)}`);
  return hash;
}

/** Returns whether a name in a store is a hash that the store wrote. */
export function isHash(name: string): boolean {
  return HASH.test(name);
}
