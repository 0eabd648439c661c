import type { DocumentEvent } from '../../../shared/document/events.ts';
import type { StoredEvent } from '../../../shared/event-store/event-store.ts';
import type { GraphEntry } from '../store/graph-entry.ts';
import { changeEntry, createEntry } from './change-entry.ts';
import type { GraphContext, Moment } from './graph-context.ts';
import { importEntry } from './import-entry.ts';
import { deleteEntry, discardDraft, publishEntry, unpublishEntry } from './publish-entry.ts';

type DataOf<Type> = Extract<DocumentEvent, { readonly type: Type }>['data'];
type Effect<Type> = (context: GraphContext, entry: GraphEntry, moment: Moment, data: DataOf<Type>) => void;

/** Effects of all events that belong to a document. */
const EFFECTS: { readonly [Type in DocumentEvent['type']]: Effect<Type> } = {
  'entry-created': createEntry,
  'entry-changed': changeEntry,
  'entry-published': publishEntry,
  'entry-unpublished': unpublishEntry,
  'draft-discarded': discardDraft,
  'entry-deleted': deleteEntry,
  'entry-imported': importEntry,
};

/** Applies a document event to the graph. Throws if it does not fit the rows before it: the log or the graph is broken. */
export function applyDocumentEvent(context: GraphContext, stored: StoredEvent): void {
  const event = { type: stored.type, data: stored.data } as DocumentEvent;
  const { type, documentId, locale } = event.data;
  const entry = context.session.entry(context.schema.type(type), documentId, locale, Number(stored.revision));
  const moment = { at: stored.metadata.at, position: Number(stored.position) };
  try {
    const apply = EFFECTS[event.type] as Effect<DocumentEvent['type']>;
    apply(context, entry, moment, event.data);
  } catch (error) {
    const eventName = `${stored.type} of ${type} ${documentId} at position ${stored.position}`;
    const lacks = entry.isNew && stored.revision > 0n ? lacksEarlier(stored) : '';
    throw new Error(`${eventName} cannot be applied: ${(error as Error).message}${lacks}`, { cause: error });
  }
  entry.isNew = false;
}

/** Returns advice if earlier events of a stream are missing. The stream was deleted or truncated on the log's server, and scavenged. */
function lacksEarlier({ stream, revision }: StoredEvent): string {
  return `. It is revision ${revision} of the stream ${stream}, and no earlier revision creates this entry: run varve verify. If revisions are missing, restore the log from a backup`;
}
