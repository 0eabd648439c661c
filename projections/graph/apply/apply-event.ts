import { assertNever } from '../../../shared/assert-never.ts';
import type { DocumentEvent } from '../../../shared/document/events.ts';
import type { StoredEvent } from '../../../shared/event-store/event-store.ts';
import { changeEntry, createEntry } from './change-entry.ts';
import type { GraphContext } from './graph-context.ts';
import { importEntry } from './import-entry.ts';
import { deleteEntry, discardDraft, publishEntry, unpublishEntry } from './publish-entry.ts';

const DOCUMENT_EVENTS: Readonly<Record<DocumentEvent['type'], true>> = {
  'entry-created': true,
  'entry-changed': true,
  'entry-published': true,
  'entry-unpublished': true,
  'draft-discarded': true,
  'entry-deleted': true,
  'entry-imported': true,
};

/** Returns whether a stored event belongs to a document. Other events do not concern rows. */
export function isDocumentEvent(stored: { readonly type: string }): boolean {
  return Object.hasOwn(DOCUMENT_EVENTS, stored.type);
}

/** Applies a document event to the graph. Throws if it does not fit the rows before it: the log or the graph is broken. */
export function applyDocumentEvent(context: GraphContext, stored: StoredEvent): void {
  const event = { type: stored.type, data: stored.data } as DocumentEvent;
  const { type, documentId, locale } = event.data;
  const entry = context.session.entry(context.schema.type(type), documentId, locale, Number(stored.revision));
  const moment = { at: stored.metadata.at, position: Number(stored.position) };
  try {
    switch (event.type) {
      case 'entry-created':
        createEntry(context, entry, event.data, moment);
        break;
      case 'entry-changed':
        changeEntry(context, entry, event.data, moment);
        break;
      case 'entry-published':
        publishEntry(context, entry, moment);
        break;
      case 'entry-unpublished':
        unpublishEntry(context, entry);
        break;
      case 'draft-discarded':
        discardDraft(context, entry, moment);
        break;
      case 'entry-deleted':
        deleteEntry(context, entry);
        break;
      case 'entry-imported':
        importEntry(context, entry, event.data, moment);
        break;
      default:
        assertNever(event);
    }
  } catch (error) {
    const eventName = `${stored.type} of ${type} ${documentId} at position ${stored.position}`;
    const lacks = entry.isNew && stored.revision > 0n ? lacksEarlier(stored) : '';
    throw new Error(`${eventName} cannot be applied: ${(error as Error).message}${lacks}`, { cause: error });
  }
  entry.isNew = false;
}

/** Returns advice if earlier events of a stream are missing: the stream was deleted or truncated on the log's server, and scavenged. */
function lacksEarlier({ stream, revision }: StoredEvent): string {
  return `. It is revision ${revision} of the stream ${stream}, and no earlier revision creates this entry: run varve verify. If revisions are missing, restore the log from a backup`;
}
