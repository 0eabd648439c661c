import * as z from 'zod';

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const MAX_DAYS = 36_500;

/**
 * Parses the expiry of a token into ISO 8601. The text is a duration from `now` (milliseconds), such as `90m`, `12h`,
 * `30d` or `4w`, or a date or datetime in the future. Returns undefined for other texts.
 */
export function parseExpiry(text: string, now: number): string | undefined {
  const [, count, unit] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  const at = unit === undefined ? timeOfDate(text) : now + Number(count) * UNITS[unit as keyof typeof UNITS];
  const isFuture = at > now && at <= now + MAX_DAYS * UNITS.d;
  return isFuture ? new Date(at).toISOString() : undefined;
}

const DATE = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/** Returns a date or datetime as milliseconds since 1970; NaN for other texts. */
export function timeOfDate(text: string): number {
  return DATE.safeParse(text).success ? Date.parse(text) : Number.NaN;
}
