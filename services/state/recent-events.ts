import type { Actor, EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { rawEvents } from '../../shared/event-store/raw-events.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';

/** An event of the log as people see it. It has no values: they may be private. `varve events --json` prints whole events. */
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

/** `after` and `before` are positions, which are not included. */
export type EventQuery = {
  readonly after: bigint;
  readonly before?: bigint | undefined;
  readonly limit: number;
  readonly type?: string | undefined;
  readonly document?: string | undefined;
};

export type EventPage = {
  readonly events: readonly ListedEvent[];
  /** Position down to which the log was searched: `before` of the next page. null: there are no earlier events. */
  readonly searchedTo: bigint | null;
};

/** Events that one request reads at most, roughly: a rare type may have none among them. */
const MOST_SEARCHED = 20_000;

/** Returns the newest events, the newest first. Reads the log backwards in ranges that grow until there are enough. */
export async function listEvents(
  log: Pick<EventStore, 'readAll' | 'lastPosition'>,
  registry: SchemaRegistry,
  { after, before, limit, type, document }: EventQuery,
): Promise<EventPage> {
  let until = before === undefined ? await log.lastPosition() : before - 1n;
  let range = BigInt(limit) * 2n;
  let searched = 0;
  const found: StoredEvent[] = [];
  const isAsked = (event: StoredEvent) =>
    (type === undefined || event.type === type) &&
    (document === undefined || entryOf(event)?.documentId === document);
  while (until > after && found.length < limit && searched < MOST_SEARCHED) {
    const from = until - range > after ? until - range : after;
    const part: StoredEvent[] = [];
    for await (const event of rawEvents(log, from, { until })) {
      searched++;
      if (isAsked(event)) part.push(event);
    }
    found.push(...part.reverse());
    until = from;
    range *= 2n;
  }
  const events = found.slice(0, limit);
  const last = found.length > limit ? events.at(-1)?.position : until + 1n;
  return {
    events: events.map((event) => presentListed(event, registry)),
    searchedTo: last === undefined || last <= after + 1n ? null : last,
  };
}

function presentListed(event: StoredEvent, registry: SchemaRegistry): ListedEvent {
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
