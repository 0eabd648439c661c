/** Any JSON value. biginteger values are decimal strings, decimals and floats numbers, dates as answered. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
