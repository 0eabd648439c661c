/** Matches a date. Years with six digits have a sign. Two digits alone are a century. */
const DATE =
  /^(?:(?<year>\d{4}|[+-]\d{6})(?:-?(?<month>\d{2})(?:-?(?<day>\d{2}))?|-?(?<ordinal>\d{3})|-?W(?<week>\d{2})(?:-?(?<weekday>[1-7]))?)?|(?<century>\d{2}))$/;
/** Matches a time. A fraction belongs to the smallest unit that is present. */
const TIME =
  /^(?<hour>\d{2})(?::?(?<minute>\d{2})(?::?(?<second>\d{2}))?)?(?:[.,](?<fraction>\d{0,9}))?(?<zone>Z|[+-]\d{2}(?::?\d{2})?)?$/;
const MILLISECONDS = /^-?\d{1,16}$/;
/** Maximum milliseconds of JavaScript dates. */
const MAX_INSTANT = 8.64e15;
const DAY = 86_400_000;

/**
 * Returns the epoch milliseconds of an ISO 8601 date or datetime, or of milliseconds written as an integer. A date alone is midnight.
 * Without an offset the text is in UTC, the server's zone. Calendar, week and ordinal dates are accepted. Returns null for any other text
 * (SEMANTICS section 2).
 */
export function parseInstant(text: string): number | null {
  const [date = '', time, more] = text.split(/[T ]/);
  const midnight = more === undefined ? midnightOf(date) : null;
  const offset = time === undefined || time === '' ? 0 : timeOffset(time);
  if (midnight !== null && offset !== null) return midnight + offset;
  if (!MILLISECONDS.test(text)) return null;
  const milliseconds = Number(text);
  return Math.abs(milliseconds) <= MAX_INSTANT ? milliseconds : null;
}

function midnightOf(date: string): number | null {
  const { year, month, day, ordinal, week, weekday, century } = DATE.exec(date)?.groups ?? {};
  if (century !== undefined) return utcDay(Number(century) * 100, 0, 1);
  if (year === undefined) return null;
  const y = Number(year);
  if (week !== undefined) return dayOfWeek(y, Number(week), Number(weekday ?? 1));
  if (ordinal !== undefined) {
    const instant = utcDay(y, 0, Number(ordinal));
    return new Date(instant).getUTCFullYear() === y ? instant : null;
  }
  const [monthIndex, dayOfMonth] = [Number(month ?? 1) - 1, Number(day ?? 1)];
  const instant = utcDay(y, monthIndex, dayOfMonth);
  const found = new Date(instant);
  return found.getUTCMonth() === monthIndex && found.getUTCDate() === dayOfMonth ? instant : null;
}

function utcDay(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day);
}

/** Returns the milliseconds of a day of a week. January 4 is always in the first week. */
function dayOfWeek(year: number, week: number, weekday: number): number | null {
  if (week < 1 || week > 53) return null;
  const fourth = utcDay(year, 0, 4);
  const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY;
  return monday + ((week - 1) * 7 + weekday - 1) * DAY;
}

function timeOffset(time: string): number | null {
  const { hour, minute, second, fraction, zone } = TIME.exec(time)?.groups ?? {};
  if (hour === undefined) return null;
  const [h, mi, s] = [Number(hour), Number(minute ?? 0), Number(second ?? 0)];
  // 24:00:00 is the end of the day.
  if (h > 24 || mi > 59 || s > 59 || (h === 24 && (mi > 0 || s > 0))) return null;
  const unit = second === undefined ? (minute === undefined ? 3_600_000 : 60_000) : 1000;
  const part = Math.floor((Number(fraction?.padEnd(9, '0') ?? 0) * unit) / 1e9);
  const offset = zoneOffset(zone);
  return offset === null ? null : (h * 3600 + mi * 60 + s) * 1000 + part - offset;
}

function zoneOffset(zone: string | undefined): number | null {
  if (zone === undefined || zone === 'Z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  const onlyHours = zone.length === 3;
  if (!onlyHours && minutes > 59) return null;
  const magnitude = (hours * 60 + (onlyHours ? 0 : minutes)) * 60_000;
  return zone.startsWith('-') ? -magnitude : magnitude;
}
