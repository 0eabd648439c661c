import * as z from 'zod';
import { durationMs } from '../../shared/duration.ts';

const MAX_MS = durationMs('36500d');

/**
 * Parses the expiry of a token into ISO 8601. The text is a duration from `now` (milliseconds), such as `90m`, `12h`,
 * `30d` or `4w`, or a date or datetime in the future. Returns undefined for other texts.
 */
export function parseExpiry(text: string, now: number): string | undefined {
  const at = /^\d{1,5}[mhdw]$/.test(text) ? now + durationMs(text) : timeOfDate(text);
  const isFuture = at > now && at <= now + MAX_MS;
  return isFuture ? new Date(at).toISOString() : undefined;
}

const DATE = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/** Returns a date or datetime as milliseconds since 1970; NaN for other texts. */
export function timeOfDate(text: string): number {
  return DATE.safeParse(text).success ? Date.parse(text) : Number.NaN;
}
