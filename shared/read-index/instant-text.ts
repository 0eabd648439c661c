import { createRecentValues } from '../recent-values.ts';

const DAY = 86_400_000;
/** Number of days whose text is cached. Most instants of a log are in few days. */
const CACHED_DAYS = 4_096;
const days = createRecentValues<number, string>(CACHED_DAYS);

const TWO_DIGITS = Array.from({ length: 100 }, (_, number) => String(number).padStart(2, '0'));

/** Returns `yyyy-MM-dd` of milliseconds since 1970, in UTC. This is several times as fast as a `Date` for each. */
export function dateText(milliseconds: number): string {
  const day = Math.floor(milliseconds / DAY);
  const known = days.get(day);
  if (known !== undefined) return known;
  const text = new Date(milliseconds).toISOString().slice(0, 10);
  days.set(day, text);
  return text;
}

/** Returns `HH:mm:ss[.S…]` of milliseconds since any midnight. Trailing zeros of the fraction are omitted, unless it is `whole`. */
export function timeText(milliseconds: number, whole = false): string {
  const ofDay = milliseconds - Math.floor(milliseconds / DAY) * DAY;
  const seconds = Math.floor(ofDay / 1000);
  const clock = `${twoDigits(seconds / 3600)}:${twoDigits((seconds / 60) % 60)}:${twoDigits(seconds % 60)}`;
  const rest = Math.floor(ofDay - seconds * 1000);
  const fraction = String(rest + 1000);
  if (whole) return `${clock}.${fraction.slice(1)}`;
  if (rest === 0) return clock;
  return `${clock}.${fraction.slice(1, rest % 100 === 0 ? 2 : rest % 10 === 0 ? 3 : 4)}`;
}

/** Returns the two digits of a number below 100, without its fraction. */
function twoDigits(number: number): string {
  return TWO_DIGITS[Math.floor(number)] as string;
}
