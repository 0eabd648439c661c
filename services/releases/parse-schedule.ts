import type { FormProblem } from '../../shared/form-problems.ts';

/** A time to come, as it is stored. */
export type Schedule = {
  /** ISO 8601 in UTC with milliseconds. */
  readonly scheduledAt: string;
  /** Time zone as the caller gave it; null: the time had an offset, and no zone was named. */
  readonly timezone: string | null;
};

const WITH_OFFSET = /[t ].*(z|[+-]\d\d(:?\d\d)?)(\[.*\])?$/i;
/** Years that texts of dates can have. */
const LAST_YEAR = 9999;

/**
 * Parses an instant with an offset, or a local time in a time zone that has a name, such as `2026-12-24T08:00` in `Europe/Berlin`. Returns
 * the problem of a text that is neither, of a local time that a change of the clock skips or repeats, and of a time that is not after
 * `now`. `at`: the name of the member that has the time.
 */
export function parseSchedule(
  text: string,
  timezone: string | null,
  { at, now }: { readonly at: string; readonly now: number },
): Schedule | FormProblem {
  const zone = timezone === null ? null : zoneOf(timezone);
  if (zone === undefined)
    return {
      path: 'timezone',
      message: `must be the name of a time zone, such as Europe/Berlin, got "${timezone}"`,
    };
  const instant = WITH_OFFSET.test(text) ? instantOf(text) : localInstant(text, zone);
  if (typeof instant === 'string') return { path: at, message: instant };
  if (instant.epochMilliseconds <= now) return { path: at, message: `must be later than now, got "${text}"` };
  const scheduledAt = new Date(instant.epochMilliseconds).toISOString();
  if (new Date(scheduledAt).getUTCFullYear() > LAST_YEAR)
    return { path: at, message: `must be before the year 10000, got "${text}"` };
  return { scheduledAt, timezone };
}

/** Returns the name of a zone. Strapi's admin panel sends it with its offset before it, as in `UTC+01:00&Europe/Berlin`. */
function zoneOf(timezone: string): string | undefined {
  const name = timezone.slice(timezone.lastIndexOf('&') + 1);
  try {
    return Temporal.Now.zonedDateTimeISO(name).timeZoneId;
  } catch {
    return undefined;
  }
}

function instantOf(text: string): Temporal.Instant | string {
  try {
    return Temporal.Instant.from(text);
  } catch {
    return formOf(text);
  }
}

/** Returns the instant of a local time. Of a time that does not exist, or exists twice, it returns what to send instead. */
function localInstant(text: string, zone: string | null): Temporal.Instant | string {
  if (zone === null) return `${formOf(text)}, or a local time with timezone`;
  const times = zonedTimes(text, zone);
  if (times === undefined) return formOf(text);
  const { local, earlier, later } = times;
  if (earlier.epochMilliseconds === later.epochMilliseconds) return earlier.toInstant();
  const isSkipped = !earlier.toPlainDateTime().equals(local);
  const both = [earlier, later].map((time) => time.toString({ timeZoneName: 'never' })).join(' or ');
  return `${isSkipped ? 'does not exist' : 'exists twice'} in ${zone}, because the clock changes: send ${both}`;
}

/** Returns a local time, and the instants that it may be; undefined if the text is none, or a time after the last instant. */
function zonedTimes(text: string, zone: string) {
  try {
    const local = Temporal.PlainDateTime.from(text);
    return {
      local,
      earlier: local.toZonedDateTime(zone, { disambiguation: 'earlier' }),
      later: local.toZonedDateTime(zone, { disambiguation: 'later' }),
    };
  } catch {
    return undefined;
  }
}

function formOf(text: string): string {
  return `must be an instant such as 2026-12-24T08:00:00+01:00, got "${text}"`;
}
