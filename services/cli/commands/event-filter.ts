import type { Actor, StoredEvent } from '../../../shared/event-store/event-store.ts';
import { timeOfDate } from '../../access/parse-expiry.ts';
import { InvalidSettings } from '../settings/settings.ts';

export type EventFilter = (event: StoredEvent) => boolean;

/** Options as typed. */
export type FilterOptions = {
  readonly document?: string;
  readonly type?: string;
  readonly actor?: string;
  readonly since?: string;
  readonly until?: string;
};

/** Returns a filter for the events that match all options. Throws InvalidSettings with every problem. */
export function parseEventFilter(options: FilterOptions, now: number): EventFilter {
  const { document, type, actor } = options;
  const since = parseMoment(options.since, now);
  const until = parseMoment(options.until, now);
  const problems = [
    ...(Number.isNaN(since) ? [problemOf('--since', options.since)] : []),
    ...(Number.isNaN(until) ? [problemOf('--until', options.until)] : []),
  ];
  if (problems.length > 0) throw new InvalidSettings(problems.join('\n'));
  return (event) =>
    (document === undefined || isOf(event, document)) &&
    (type === undefined || event.type === type) &&
    (actor === undefined || isNamed(event.metadata.actor, actor)) &&
    (since === undefined || Date.parse(event.metadata.at) >= since) &&
    (until === undefined || Date.parse(event.metadata.at) <= until);
}

function problemOf(option: string, found: string | undefined): string {
  return `  ${option} must be a date, a datetime with its offset, or a duration such as 90m, 12h or 30d; got "${found}"`;
}

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Parses milliseconds since 1970; NaN for a text that is not a time. */
function parseMoment(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (unit !== undefined) return now - Number(count) * UNITS[unit as keyof typeof UNITS];
  return timeOfDate(text);
}

/** Returns whether a text names the actor: by its kind, the id or name of its token, or the id of its process. */
function isNamed(actor: Actor | undefined, name: string): boolean {
  if (typeof actor !== 'object' || actor === null) return false;
  const { kind, id, name: own } = actor as { kind?: unknown; id?: unknown; name?: unknown };
  return kind === name || id === name || own === name;
}

/** Returns whether an event belongs to a document. An event that names no document belongs to the document of its stream. */
function isOf({ data, stream }: StoredEvent, document: string): boolean {
  const named = (data as { readonly documentId?: unknown } | null)?.documentId;
  return named === undefined ? stream.endsWith(`-${document}`) : named === document;
}
