import { durationMs } from '../../../shared/duration.ts';
import type { StoredEvent } from '../../../shared/event-store/event-store.ts';
import { EVENT_VERSIONS } from '../../../shared/events/event-versions.ts';
import { timeOfDate } from '../../access/parse-expiry.ts';
import { isActor } from '../../state/listed-event.ts';
import { InvalidSettings } from '../settings/settings.ts';

export type EventFilter = (event: StoredEvent) => boolean;

/** Options of the filter, as typed on the command line. */
export type FilterOptions = {
  readonly document?: string;
  readonly type?: string;
  readonly actor?: string;
  readonly since?: string;
  readonly until?: string;
  /** Types of other programs can be asked for. */
  readonly raw?: boolean;
};

/** Returns a filter for the events that match all options. Throws InvalidSettings with every problem. */
export function parseEventFilter(options: FilterOptions, now: number): EventFilter {
  const { document, type, actor } = options;
  if (type !== undefined && options.raw !== true) refuseUnknownType(type);
  const moments = { since: parseMoment(options.since, now), until: parseMoment(options.until, now) };
  const { since, until } = moments;
  const wrong = (['since', 'until'] as const).filter((name) => Number.isNaN(moments[name]));
  if (wrong.length > 0) throw new InvalidSettings(...wrong.map((name) => problemOf(name, options[name])));
  return (event) =>
    (document === undefined || isOf(event, document)) &&
    (type === undefined || event.type === type) &&
    (actor === undefined || isActor(event.metadata.actor, actor)) &&
    (since === undefined || Date.parse(event.metadata.at) >= since) &&
    (until === undefined || Date.parse(event.metadata.at) <= until);
}

/** Throws InvalidSettings for a type that no event of Varve has: the answer would be empty, as if nothing had happened. */
function refuseUnknownType(type: string): void {
  const types = Object.keys(EVENT_VERSIONS);
  if (types.includes(type)) return;
  throw new InvalidSettings(
    `--type must be one of ${types.join(', ')}, got "${type}"; --document finds the events of a document, and --raw types of other programs`,
  );
}

function problemOf(name: string, found: string | undefined): string {
  return `--${name} must be a date, a datetime with its offset, or a duration such as 90m, 12h or 30d; got "${found}"`;
}

/** Parses milliseconds since 1970; NaN for a text that is not a time. */
function parseMoment(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  return /^\d{1,6}[smhdw]$/.test(text) ? now - durationMs(text) : timeOfDate(text);
}

/** Returns whether an event belongs to a document. An event that names no document belongs to the document of its stream. */
function isOf({ data, stream }: StoredEvent, document: string): boolean {
  const named = (data as { readonly documentId?: unknown } | null)?.documentId;
  return named === undefined ? stream.endsWith(`-${document}`) : named === document;
}
