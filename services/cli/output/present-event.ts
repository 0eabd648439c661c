import type { EntryImported, RelationOperation } from '../../../shared/document/events.ts';
import type { Actor, StoredEvent } from '../../../shared/event-store/event-store.ts';

/** Number of shown characters of a value. An event that belongs to no document shows twice as many. */
const SHOWN_CHARACTERS = 60;
/** Form of a stored password, which is not shown. */
const PASSWORD_HASH = /^\$(argon2|2[aby]\$)/;

type DocumentData = {
  readonly type: string;
  readonly documentId: string;
  readonly locale: string | null;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly relations?: readonly Linking[];
  /** Version of an imported row. */
  readonly version?: string;
  readonly id?: number;
};

type Linking = RelationOperation | EntryImported['data']['relations'][number];

/**
 * Returns an event as one line for people: position, time, action, subject, and changes. Escapes control characters, which a terminal would
 * obey.
 */
export function presentEvent(event: StoredEvent): string {
  return describeEvent(event).replaceAll(/\p{Cc}/gu, (character) => JSON.stringify(character).slice(1, -1));
}

function describeEvent(event: StoredEvent): string {
  const { position, type, data, metadata } = event;
  const { at, actor, via } = metadata;
  const who = actor === undefined ? [] : [`by ${presentActor(actor)}`];
  const how = via === undefined ? [] : [`(${String(via)})`];
  if (event.unreadable !== undefined) {
    const { kind, reason } = event.unreadable;
    const line = [String(position).padStart(8), (at || '-').padEnd(24), type.padEnd(17), event.stream];
    return [...line, `${kind}: ${reason}`].join('  ');
  }
  const what = isDocumentData(data)
    ? describeDocument(data)
    : isDefinition(data)
      ? [data.uid, Object.keys(data.schema?.attributes ?? {}).join(', ')]
      : [shorten(JSON.stringify(data), 2)];
  return [String(position).padStart(8), at, type.padEnd(17), ...what, [...who, ...how].join(' ')]
    .join('  ')
    .trimEnd();
}

/** Returns any event as it is stored, as JSON. */
export function presentStored(event: StoredEvent): string {
  const { unreadable, position, revision, ...others } = event;
  const metadata =
    unreadable !== undefined && 'metadata' in unreadable ? unreadable.metadata : event.metadata;
  return JSON.stringify({
    position: String(position),
    revision: String(revision),
    ...others,
    metadata,
    ...(unreadable === undefined ? {} : { unreadable: `${unreadable.kind}: ${unreadable.reason}` }),
  });
}

/** Presents an actor of any shape, because a newer version may have written it. */
function presentActor(actor: Actor): string {
  const { kind, id, name } = actor as { kind?: unknown; id?: unknown; name?: unknown };
  if (typeof kind !== 'string') return JSON.stringify(actor);
  return [
    kind,
    ...(name === undefined ? [] : [`"${String(name)}"`]),
    ...(id === undefined ? [] : [String(id)]),
  ].join(' ');
}

function isDocumentData(data: unknown): data is DocumentData {
  return typeof data === 'object' && data !== null && 'documentId' in data && 'type' in data;
}

type Definition = { readonly uid: string; readonly schema: { readonly attributes?: object } | null };

function isDefinition(data: unknown): data is Definition {
  return typeof data === 'object' && data !== null && 'uid' in data && 'schema' in data;
}

function describeDocument(data: DocumentData): string[] {
  const { type, documentId, locale, values, relations, version, id } = data;
  const changes = [
    ...Object.entries(values ?? {}).map(([name, value]) => `${name} = ${presentValue(value)}`),
    ...(relations ?? []).map(presentOperation),
  ];
  const row = version === undefined ? [] : [id === undefined ? version : `${version} ${id}`];
  return [type, documentId, ...(locale === null ? [] : [locale]), ...row, changes.join(', ')];
}

function presentValue(value: unknown): string {
  if (typeof value === 'string' && PASSWORD_HASH.test(value)) return '(a password)';
  return shorten(JSON.stringify(value) ?? 'null', 1);
}

function presentOperation(operation: Linking): string {
  const { attribute } = operation;
  if ('targets' in operation)
    return `${attribute} = [${operation.targets.map(({ documentId }) => documentId).join(' ')}]`;
  const added = operation.connect.map(({ target }) => `+${target.documentId}`);
  const removed = operation.disconnect.map(({ documentId }) => `-${documentId}`);
  return `${attribute} ${[...removed, ...added].join(' ')}`;
}

function shorten(text: string, times: number): string {
  const most = SHOWN_CHARACTERS * times;
  return text.length <= most ? text : `${text.slice(0, most)}…`;
}
