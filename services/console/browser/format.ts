const WHOLE = new Intl.NumberFormat();
const SHORT = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const BOTH = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A value that is not known. */
export const UNKNOWN = '–';

/** Returns a whole number; texts, such as positions, may be longer than a number is exact. */
export function formatCount(value: number | string | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  return WHOLE.format(typeof value === 'string' ? BigInt(value) : value);
}

/** Returns a number with three digits. */
export function formatShort(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : SHORT.format(value);
}

/** Returns bytes in the greatest fitting unit. */
export function formatBytes(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return UNKNOWN;
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
  const unit = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const style = { style: 'unit', unit: units[unit] ?? 'byte', maximumSignificantDigits: 3 } as const;
  return new Intl.NumberFormat(undefined, style).format(bytes / 1_000 ** unit);
}

/** Returns a duration with its two greatest units, such as `2 d 4 h`. */
export function formatSeconds(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return UNKNOWN;
  if (seconds < 1) return `${Math.round(seconds * 1_000)} ms`;
  if (seconds < 60) return `${SHORT.format(seconds)} s`;
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.floor(seconds) % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  const shown = parts.slice(first, first + 2).filter(([count]) => count > 0);
  return shown.map(([count, unit]) => `${count} ${unit}`).join(' ');
}

/** Returns the time of today, or the date and time of another day. */
export function formatTime(at: string | number | null | undefined): string {
  if (at === null || at === undefined) return UNKNOWN;
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  return date.toDateString() === new Date().toDateString() ? TIME.format(date) : BOTH.format(date);
}

/** Returns a date and time. */
export function formatMoment(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? at : BOTH.format(date);
}

/** Returns a text that is at most so long. */
export function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
