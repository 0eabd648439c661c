const ISO =
  /^(\d{4})(?:-?(\d{2})(?:-?(\d{2}))?)?(?:[T ](\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/;
const MILLISECONDS = /^-?\d{1,16}$/;
/** Limit of JavaScript dates. */
const MAX_INSTANT = 8.64e15;

/**
 * Epoch milliseconds of an ISO 8601 date or datetime (date only = midnight; no offset = UTC, the server's zone) or of
 * milliseconds written as an integer; null for anything else (SEMANTICS section 2).
 */
export function parseInstant(text: string): number | null {
  const iso = ISO.exec(text);
  if (iso !== null) {
    const instant = isoInstant(iso);
    if (instant !== null) return instant;
  }
  if (!MILLISECONDS.test(text)) return null;
  const milliseconds = Number(text);
  return Math.abs(milliseconds) <= MAX_INSTANT ? milliseconds : null;
}

function isoInstant(parts: RegExpExecArray): number | null {
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00', fraction = '', zone] =
    parts;
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  // 24:00:00 is the end of the day.
  if (h > 24 || mi > 59 || s > 59 || (h === 24 && (mi > 0 || s > 0))) return null;
  const midnight = new Date(0);
  midnight.setUTCFullYear(y, mo - 1, d);
  if (midnight.getUTCMonth() !== mo - 1 || midnight.getUTCDate() !== d) return null;
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3));
  const time = (h * 3600 + mi * 60 + s) * 1000 + milliseconds;
  const offset = offsetMilliseconds(zone);
  return offset === null ? null : midnight.getTime() + time - offset;
}

function offsetMilliseconds(zone: string | undefined): number | null {
  if (zone === undefined || zone === 'Z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  const onlyHours = zone.length === 3;
  if (!onlyHours && minutes > 59) return null;
  const magnitude = (hours * 60 + (onlyHours ? 0 : minutes)) * 60_000;
  return zone.startsWith('-') ? -magnitude : magnitude;
}
