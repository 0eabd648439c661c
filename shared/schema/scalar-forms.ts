/** Bounds of a `biginteger`. */
export const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n } as const;

/** Form of a `time`: up to three digits of a second. */
export const TIME_OF_DAY = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?$/;

const DAY = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])/;

/** Returns the `yyyy-MM-dd` at the beginning of a text, which need not exist; undefined if there is none. */
export function dayIn(text: string): string | undefined {
  return DAY.exec(text)?.[0];
}

/** Returns whether a `yyyy-MM-dd` exists: `Date` itself would let February 30 run on into March. */
export function isDay(date: string): boolean {
  const milliseconds = Date.parse(`${date}T00:00:00.000Z`);
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(date);
}
