import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { ChangedNames, JournalRow } from '../../projections/journal/journal.ts';
import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import { documentStream } from '../../shared/document/stream-name.ts';
import type { EventMetadata } from '../../shared/event-store/event-store.ts';
import { refuseUnreadable } from '../../shared/event-store/unreadable.ts';
import { valueAt } from '../../shared/map-values.ts';
import { RequestError } from '../../shared/request-error.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { effectOf, isErasure } from './document-actions.ts';
import type { PastOptions } from './document-at.ts';
import { namesOfNow, readRenamedPaths } from './renamed-paths.ts';

/** Effect of an event, under the name of Strapi's action. */
export type VersionAction = 'create' | 'update' | 'publish' | 'unpublish' | 'draft-discard' | 'delete';

/** Status of an entry: only a draft, published as the draft is, or published before the draft was changed. */
export type EntryStatus = 'draft' | 'published' | 'modified';

/** One event of a document, and the state of its entries after it. */
export type DocumentVersion = {
  readonly position: bigint;
  readonly revision: bigint;
  readonly action: VersionAction;
  readonly metadata: EventMetadata;
  /** Locale of the event's entry. */
  readonly locale: string | null;
  /** Rows that the event wrote or removed, in all locales. */
  readonly rows: readonly JournalRow[];
  /** By locale. An entry that does not exist has none. */
  readonly statuses: ReadonlyMap<string | null, EntryStatus>;
};

export type VersionsOptions = PastOptions & {
  readonly graph: Pick<ContentGraph, 'changesBetween' | 'hasJournal' | 'position'>;
  readonly defaultLocale: string;
};

/** Events of a document that a request reads at most. */
const MOST_EVENTS = 20_000;

/**
 * Returns the versions of a document in order, up to the position that the graph shows. The journal has the rows of each event. Throws
 * RequestError: 400 for a document with too many events, 503 if an earlier projector made the graph.
 */
export async function readVersions(
  options: VersionsOptions,
  { type, documentId }: DocumentName,
): Promise<readonly DocumentVersion[]> {
  const { events, space, registry, graph, defaultLocale } = options;
  if (!graph.hasJournal()) throw new RequestError('starting', 'The journal is being made: try again soon');
  const until = graph.position();
  const { localized } = contentTypeOf(registry, type);
  const localeNow = (locale: string | null) => (localized ? (locale ?? defaultLocale) : null);
  const pathsOfNow = await readRenamedPaths(options, type);
  const entries = new Map<string | null, EntryState>();
  const versions: DocumentVersion[] = [];
  for await (const event of events.stream(documentStream(space, type, documentId))) {
    if (event.position > until) break;
    refuseUnreadable(event);
    const effect = effectOf(event);
    if (effect === undefined) continue;
    if (isErasure(event)) {
      versions.length = 0;
      entries.clear();
      continue;
    }
    if (versions.length === MOST_EVENTS) throw tooManyEvents(documentId);
    const { position, revision, metadata } = event;
    const action = effect.event.slice('entry.'.length) as VersionAction;
    const rows = graph
      .changesBetween(position - 1n, position)
      .filter(({ locale }) => localized || locale === null || locale === defaultLocale)
      .map((row) => ({
        ...row,
        locale: localeNow(row.locale),
        changed: namesOfNow(pathsOfNow, row.changed, position),
      }));
    const locale = localeNow((event.data as { readonly locale: string | null }).locale);
    for (const row of rows) evolve(valueAt(entries, row.locale, newEntry), row, row.locale === locale);
    const statuses = new Map([...entries].flatMap(([key, entry]) => statusOf(key, entry)));
    versions.push({ position, revision, action, metadata, locale, rows, statuses });
  }
  return versions;
}

function tooManyEvents(documentId: string): RequestError {
  const message = `The document has more than ${MOST_EVENTS} events, and a request reads no more: read them with varve events`;
  return new RequestError('not-supported', message, { documentId, accepted: MOST_EVENTS });
}

/** `unpublished`: names that may differ between the draft and the published row. */
type EntryState = { hasDraft: boolean; hasPublished: boolean; unpublished: ChangedNames };

function newEntry(): EntryState {
  return { hasDraft: false, hasPublished: false, unpublished: new Set() };
}

/** Name of a change that has none, such as that of `updatedAt` alone. */
const UNNAMED: ReadonlySet<string> = new Set(['']);

/** `isOwn`: the event is about this entry. It can change shared values of the document's other locales, too. */
function evolve(entry: EntryState, { status, event, changed, linksAfter }: JournalRow, isOwn: boolean): void {
  const exists = event !== 'delete';
  if (status === 'draft') entry.hasDraft = exists;
  else entry.hasPublished = exists;
  const { unpublished } = entry;
  if (status === 'draft' && exists && linksAfter === undefined) {
    const names = changed !== 'all' && changed.size === 0 ? UNNAMED : changed;
    entry.unpublished = names === 'all' || unpublished === 'all' ? 'all' : unpublished.union(names);
  } else if (isOwn || unpublished === 'all' || changed === 'all') entry.unpublished = new Set();
  else entry.unpublished = unpublished.difference(changed);
}

function statusOf(locale: string | null, entry: EntryState): readonly [string | null, EntryStatus][] {
  if (!entry.hasPublished) return entry.hasDraft ? [[locale, 'draft']] : [];
  const isModified = entry.hasDraft && (entry.unpublished === 'all' || entry.unpublished.size > 0);
  return [[locale, isModified ? 'modified' : 'published']];
}
