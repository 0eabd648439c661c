const HASH = /^[0-9a-f]{64}$/;

/** Returns `hash`, the only thing that becomes part of a path or key. Throws if it is not a SHA-256 in hexadecimal. */
export function checkedHash(hash: string): string {
  if (!HASH.test(hash)) throw new Error(`not a SHA-256 in hexadecimal: ${JSON.stringify(hash)}`);
  return hash;
}

/** Returns whether a name found in a store was given by the store. */
export function isHash(name: string): boolean {
  return HASH.test(name);
}
