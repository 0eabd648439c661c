/** About 31 years. Callers have shorter limits. */
const MOST_SECONDS = 1_000_000_000;

/** Returns the milliseconds of a Retry-After header, which has seconds or a date; undefined if it has neither. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Math.min(Number(header), MOST_SECONDS) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
