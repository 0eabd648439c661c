/** Any JSON value. biginteger values are decimal strings, decimals and floats numbers, dates as answered. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Returns the value of a JSON text; undefined for another text. */
export function valueOfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Replacer of JSON.stringify: JSON has no bigint. */
export function wrapBigint(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? { bigint: String(value) } : value;
}

/** Reviver of JSON.parse, for what wrapBigint wrote. */
export function unwrapBigint(_: string, value: unknown): unknown {
  const isWrapped = typeof value === 'object' && value !== null && 'bigint' in value;
  return isWrapped ? BigInt(String(value.bigint)) : value;
}
