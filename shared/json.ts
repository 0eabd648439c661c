/** Any JSON value. biginteger values are decimal strings; decimals and floats are numbers; dates have the form of answers. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Parses JSON. Returns undefined for a text that is not JSON. */
export function valueOfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Replaces a bigint for JSON.stringify, because JSON has no bigint. */
export function wrapBigint(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? { bigint: String(value) } : value;
}

/** Restores a bigint for JSON.parse, from a value that wrapBigint wrote. */
export function unwrapBigint(_: string, value: unknown): unknown {
  const isWrapped = typeof value === 'object' && value !== null && 'bigint' in value;
  return isWrapped ? BigInt(String(value.bigint)) : value;
}
