/** Bounds of a `biginteger`. */
export const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n } as const;

/** Matches a `time`, which has up to three digits after the second. */
export const TIME_OF_DAY = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?$/;

const DAY = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])/;

/** Returns the `yyyy-MM-dd` at the beginning of a text; undefined if there is none. The day may not exist in the calendar. */
export function dayIn(text: string): string | undefined {
  return DAY.exec(text)?.[0];
}

/** Returns whether a `yyyy-MM-dd` exists. `Date` itself would convert February 30 to a day in March. */
export function isDay(date: string): boolean {
  const milliseconds = Date.parse(`${date}T00:00:00.000Z`);
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(date);
}
