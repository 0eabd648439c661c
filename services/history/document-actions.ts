import type { DocumentEvent } from '../../shared/document/events.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { RowVersion } from '../../shared/read-index/read-index.ts';
import { FILE_TYPE } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { WebhookEventName } from '../../shared/webhooks/webhook-events.ts';

/** The effect of one command on one document, under Strapi's name. */
export type DocumentAction = {
  readonly event: WebhookEventName;
  readonly type: string;
  readonly documentId: string;
  /** Events of the document's stream, in order. */
  readonly events: readonly [StoredEvent, ...StoredEvent[]];
  /** Rows that the events wrote or removed. A removed document has only its locales here. */
  readonly rows: readonly TouchedRow[];
  /** The rows, or one of their versions, were removed. */
  readonly removes: boolean;
};

export type TouchedRow = { readonly locale: string | null; readonly version: RowVersion | 'all' };

const MEDIA: { readonly [event in WebhookEventName]?: WebhookEventName } = {
  'entry.create': 'media.create',
  'entry.update': 'media.update',
  'entry.delete': 'media.delete',
};

/** Returns the command of an event: the later events of a command name the first one as their cause. */
export function commandOf({ id, metadata }: StoredEvent): string {
  return metadata.causationId ?? id;
}

/** Returns whether an event was erased, or deleted a document for an erasure. The document has no history before it. */
export function isErasure({ metadata: { erased, via } }: Pick<StoredEvent, 'metadata'>): boolean {
  return erased !== undefined || via === 'erase';
}

/** Returns the actions of events in the order of the log. Imports have no actions, as in Strapi. */
export function documentActions(
  events: readonly StoredEvent[],
  registry: SchemaRegistry,
): readonly DocumentAction[] {
  const actions = new Map<string, DocumentAction>();
  for (const stored of events) {
    const seen = actionOf(stored, registry);
    if (seen === undefined) continue;
    const key = `${stored.stream} ${commandOf(stored)} ${seen.event}`;
    const known = actions.get(key);
    if (known === undefined) actions.set(key, seen);
    else
      actions.set(key, {
        ...known,
        events: [...known.events, stored],
        rows: [...known.rows, ...seen.rows],
      });
  }
  return [...actions.values()];
}

function actionOf(stored: StoredEvent, registry: SchemaRegistry): DocumentAction | undefined {
  const named = effectOf(stored);
  if (named === undefined || stored.metadata.actor?.kind === 'import') return undefined;
  const { type, documentId, locale } = (stored as unknown as DocumentEvent).data;
  const definition = registry.contentTypes.get(type);
  if (definition === undefined || (definition.builtIn && type !== FILE_TYPE)) return undefined;
  const event = type === FILE_TYPE ? MEDIA[named.event] : named.event;
  if (event === undefined) return undefined;
  const version = definition.draftAndPublish || named.version === 'all' ? named.version : 'live';
  return { event, type, documentId, events: [stored], rows: [{ locale, version }], removes: named.removes };
}

/** Effect of one event, for a type with draft & publish. */
type EventEffect = {
  readonly event: WebhookEventName;
  readonly version: RowVersion | 'all';
  readonly removes: boolean;
};

type ImportedEvent = DocumentEvent & { readonly type: 'entry-imported' };

/** The compiler asks for the effect of a new event. */
const EFFECTS: Readonly<Record<Exclude<DocumentEvent['type'], ImportedEvent['type']>, EventEffect>> = {
  'entry-created': { event: 'entry.create', version: 'draft', removes: false },
  'entry-changed': { event: 'entry.update', version: 'draft', removes: false },
  'entry-published': { event: 'entry.publish', version: 'published', removes: false },
  'entry-unpublished': { event: 'entry.unpublish', version: 'published', removes: true },
  'draft-discarded': { event: 'entry.draft-discard', version: 'draft', removes: false },
  'entry-deleted': { event: 'entry.delete', version: 'all', removes: true },
};

/** Returns the effect of an event under Strapi's name; undefined if the event is not about a document. */
export function effectOf({ type, data, revision }: StoredEvent): EventEffect | undefined {
  if (type === 'entry-imported') return effectOfImport(data as ImportedEvent['data'], revision);
  return Object.hasOwn(EFFECTS, type) ? EFFECTS[type as keyof typeof EFFECTS] : undefined;
}

function effectOfImport({ version }: ImportedEvent['data'], revision: bigint): EventEffect {
  if (version === 'published') return { event: 'entry.publish', version, removes: false };
  return { event: revision === 0n ? 'entry.create' : 'entry.update', version, removes: false };
}
