/** Locales for which something is kept: at least so many, at most twice as many. Callers may name any. */
export const REMEMBERED_LOCALES = 100;
