import type { Actor, StoredEvent } from '../../shared/event-store/event-store.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/** An event of the log as people see it in a list, without its values. */
export type ListedEvent = {
  readonly position: string;
  /** ISO 8601; null: another program wrote the event. */
  readonly at: string | null;
  readonly type: string;
  readonly stream: string;
  readonly actor: Actor | null;
  /** Kind of the command that caused it, such as `update`. */
  readonly via: string | null;
  /** Entry that the event is about; null: it is about something else, such as the lease. */
  readonly entry: ListedEntry | null;
  /** Public attributes that the event sets; null: any, after an import, or none. */
  readonly changed: readonly string[] | null;
  /** Reason why this program cannot read the event; null: it can. */
  readonly unreadable: string | null;
};

type ListedEntry = { readonly type: string; readonly documentId: string; readonly locale: string | null };

/** Conditions that an event has to match, as far as they are present. */
export type EventConditions = {
  readonly type?: string | undefined;
  /** DocumentId of an entry. */
  readonly document?: string | undefined;
  /** Kind of an author, id or name of a token, or id of a process. */
  readonly actor?: string | undefined;
  /** Milliseconds since 1970: not earlier than `since`, not later than `until`. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
};

/** Returns whether an event matches all conditions. */
export function isAsked(event: StoredEvent, conditions: EventConditions): boolean {
  const { type, document, actor, since, until } = conditions;
  return (
    (type === undefined || event.type === type) &&
    (document === undefined || entryOf(event)?.documentId === document) &&
    (actor === undefined || isActor(event.metadata.actor, actor)) &&
    (since === undefined || Date.parse(event.metadata.at) >= since) &&
    (until === undefined || Date.parse(event.metadata.at) <= until)
  );
}

/** Returns whether a text names the author of an event: its kind, the id or name of a token, or the id of a process. */
export function isActor(actor: Actor | undefined, name: string): boolean {
  if (typeof actor !== 'object' || actor === null) return false;
  const { kind, id, name: own } = actor as { kind?: unknown; id?: unknown; name?: unknown };
  return kind === name || id === name || own === name;
}

/** Returns an event for a list. */
export function presentListed(event: StoredEvent, registry: SchemaRegistry): ListedEvent {
  const { position, type, stream, metadata, unreadable } = event;
  return {
    position: String(position),
    at: metadata.at === '' ? null : metadata.at,
    type,
    stream,
    actor: metadata.actor ?? null,
    via: metadata.via ?? null,
    entry: entryOf(event) ?? null,
    changed: changedBy(event, registry),
    unreadable: unreadable === undefined ? null : `${unreadable.kind}: ${unreadable.reason}`,
  };
}

function entryOf({ data, unreadable }: StoredEvent): ListedEntry | undefined {
  if (unreadable !== undefined || typeof data !== 'object' || data === null) return undefined;
  const { type, documentId, locale } = data as { readonly [member: string]: unknown };
  if (typeof type !== 'string' || typeof documentId !== 'string') return undefined;
  return { type, documentId, locale: typeof locale === 'string' ? locale : null };
}

/** Returns the names of public attributes only: a name that the API refuses is not shown here either. */
function changedBy(event: StoredEvent, registry: SchemaRegistry): readonly string[] | null {
  const entry = entryOf(event);
  const attributes = entry && registry.contentTypes.get(entry.type)?.attributes;
  if (attributes === undefined) return null;
  const { values, relations } = event.data as {
    readonly values?: object;
    readonly relations?: readonly { readonly attribute: string }[];
  };
  if (values === undefined && relations === undefined) return null;
  const names = [...Object.keys(values ?? {}), ...(relations ?? []).map(({ attribute }) => attribute)];
  return [...new Set(names)].filter((name) => attributes.get(name)?.private === false);
}
