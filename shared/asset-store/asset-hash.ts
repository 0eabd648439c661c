const HASH = /^[0-9a-f]{64}$/;

/** `hash`, which becomes part of a path or key: nothing else ever does. Throws for what is no SHA-256 in hexadecimal. */
export function checkedHash(hash: string): string {
  if (!HASH.test(hash)) throw new Error(`not a SHA-256 in hexadecimal: ${JSON.stringify(hash)}`);
  return hash;
}

/** Whether a name found in a store is one that it gave. */
export function isHash(name: string): boolean {
  return HASH.test(name);
}
