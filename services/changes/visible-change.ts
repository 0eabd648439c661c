import { visibleNames } from '../../projections/journal/component-parts.ts';
import type { JournalRow } from '../../projections/journal/journal.ts';
import { type DocumentEvent, isDocumentEvent } from '../../shared/document/events.ts';
import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { EffectiveEvents } from '../../shared/fleet/effective-events.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { LogChange } from './read-changes.ts';
import type { FeedCaller, FeedSelection } from './selection.ts';

/** A change without the rows in which the caller may see none of it. */
export type VisibleChange = Omit<LogChange, 'rows'> & { readonly rows: readonly VisibleRow[] };

export type VisibleRow = JournalRow & {
  /** Changed attributes that the caller may see; null if any of them may have changed. */
  readonly names: readonly string[] | null;
};

type VisibilityOptions = {
  readonly events: Pick<EffectiveEvents, 'after'>;
  readonly registry: SchemaRegistry;
};

/** Largest distance of positions that is searched for changes of links. Above it, the row counts as changed. */
const MAX_SEARCHED = 500n;

/** Omits updates that change only attributes that the caller may not see. */
export async function visibleChange(
  options: VisibilityOptions,
  caller: FeedCaller,
  { visible }: Pick<FeedSelection, 'visible'>,
  change: LogChange,
): Promise<VisibleChange> {
  const attributes = visible.get(change.type)?.attributes;
  const rows: VisibleRow[] = [];
  for (const row of change.rows) {
    const names = visibleNames(caller.registry, attributes, row.changed);
    if (row.event !== 'update' || names?.length !== 0 || (await isCopyOfMore(options, change, row)))
      rows.push({ ...row, names });
  }
  return { ...change, rows };
}

/** Returns whether the row became a copy of the other version, and other documents may have changed its links. */
async function isCopyOfMore(
  { events, registry }: VisibilityOptions,
  { type, documentId, position }: LogChange,
  { changed, linksAfter }: JournalRow,
): Promise<boolean> {
  if (linksAfter === undefined) return false;
  // A publication without an edit can only publish changed links.
  if (changed !== 'all' && changed.size === 0) return true;
  if (position - linksAfter > MAX_SEARCHED) return true;
  for await (const event of events.after(linksAfter, { until: position - 1n }))
    if (linksTo(registry, event, { type, documentId })) return true;
  return false;
}

/** Returns whether an event of another document may have changed links of this document. */
function linksTo(registry: SchemaRegistry, event: StoredEvent, { type, documentId }: DocumentName): boolean {
  if (!isDocumentEvent(event)) return false;
  const { data } = event as unknown as DocumentEvent;
  if (data.documentId === documentId || !('relations' in data)) return false;
  return data.relations.some(({ attribute: name }) => {
    const attribute = registry.contentTypes.get(data.type)?.attributes.get(name);
    return attribute?.kind === 'relation' && attribute.target === type;
  });
}
