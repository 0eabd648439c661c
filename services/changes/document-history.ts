import type { DocumentEvent } from '../../shared/document/events.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import { effectOf } from '../webhooks/document-actions.ts';
import type { TypeEra } from './type-eras.ts';

/** What happened to one row: a document in one locale and version. */
export type VersionChange = {
  readonly locale: string | null;
  /** Without draft & publish all rows are published ones. */
  readonly status: World;
  readonly event: 'create' | 'update' | 'delete';
  /** Attributes of the schema that may differ from before; `all` where the event does not say which. */
  readonly changed: Names;
};

type Names = ReadonlySet<string> | 'all';

type LocaleState = {
  draft: boolean;
  published: boolean;
  /** Attributes that were changed since the draft was published. */
  unpublished: Names;
};

/** Which rows a document has, as its own events say. */
export type DocumentHistory = {
  /** Revision of the next event. */
  next: bigint;
  era: TypeEra | undefined;
  locales: Map<string | null, LocaleState>;
};

export function newHistory(): DocumentHistory {
  return { next: 0n, era: undefined, locales: new Map() };
}

export function copyHistory({ next, era, locales }: DocumentHistory): DocumentHistory {
  return { next, era, locales: new Map([...locales].map(([locale, state]) => [locale, { ...state }])) };
}

const NONE: ReadonlySet<string> = new Set();

/** Adds an event that counts, and returns the rows that it changed. `eras`: of the type, up to the event. */
export function addEvent(
  history: DocumentHistory,
  stored: StoredEvent,
  eras: readonly TypeEra[],
): readonly VersionChange[] {
  history.next = stored.revision + 1n;
  const effect = effectOf(stored);
  if (effect === undefined) return [];
  const era = enter(history, eras);
  if (era === undefined) return [];
  const event = stored as unknown as DocumentEvent;
  const changes: VersionChange[] = [];
  const context = { history, era, note: (change: VersionChange) => void changes.push(change) };
  switch (event.type) {
    case 'entry-created':
    case 'entry-changed':
      edit(context, event.data);
      break;
    case 'entry-published':
      publish(context, event.data.locale);
      break;
    case 'draft-discarded':
      discard(context, event.data.locale);
      break;
    case 'entry-imported':
      put(context, event.data.locale, event.data.version === 'draft' ? 'draft' : 'published', 'all');
      break;
    case 'entry-unpublished':
      remove(context, event.data.locale, ['published']);
      break;
    case 'entry-deleted':
      remove(context, event.data.locale, ['draft', 'published']);
      break;
  }
  return changes;
}

type Context = {
  readonly history: DocumentHistory;
  readonly era: TypeEra;
  readonly note: (change: VersionChange) => void;
};

/** Writes a row, whether or not it was there. */
function put({ history, note }: Context, locale: string | null, status: World, changed: Names): void {
  const state = history.locales.get(locale) ?? { draft: false, published: false, unpublished: NONE };
  note({ locale, status, event: state[status] ? 'update' : 'create', changed });
  history.locales.set(locale, { ...state, [status]: true, unpublished: union(state.unpublished, changed) });
}

function edit(context: Context, data: (DocumentEvent & { type: 'entry-changed' })['data']): void {
  const { history, era } = context;
  const names = new Set([...Object.keys(data.values), ...data.relations.map(({ attribute }) => attribute)]);
  const edited = era.draftAndPublish ? 'draft' : 'published';
  put(context, data.locale, edited, names);
  if (data.shared.length === 0) return;
  for (const [locale, state] of history.locales)
    if (locale !== data.locale && state[edited]) put(context, locale, edited, new Set(data.shared));
}

/** Shared values are published in all published locales of the document. */
function publish(context: Context, locale: string | null): void {
  const { history, era } = context;
  const own = history.locales.get(locale);
  put(context, locale, 'published', own?.unpublished ?? NONE);
  setUnpublished(history, locale, NONE);
  for (const [other, state] of history.locales) {
    if (other === locale || !state.published) continue;
    const shared = among(era.shared, state.unpublished);
    if (shared.size === 0) continue;
    put(context, other, 'published', shared);
    if (state.unpublished !== 'all')
      setUnpublished(history, other, state.unpublished.difference(shared) as ReadonlySet<string>);
  }
}

function discard(context: Context, locale: string | null): void {
  const { history, era } = context;
  const changed = history.locales.get(locale)?.unpublished ?? NONE;
  put(context, locale, 'draft', changed);
  setUnpublished(history, locale, NONE);
  const shared = among(era.shared, changed);
  if (shared.size === 0) return;
  for (const [other, state] of history.locales)
    if (other !== locale && state.draft) put(context, other, 'draft', shared);
}

function remove({ history, note }: Context, locale: string | null, statuses: readonly World[]): void {
  const state = history.locales.get(locale);
  if (state === undefined) return;
  for (const status of statuses) {
    if (state[status]) note({ locale, status, event: 'delete', changed: NONE });
    state[status] = false;
  }
  if (!state.draft && !state.published) history.locales.delete(locale);
}

function setUnpublished({ locales }: DocumentHistory, locale: string | null, names: Names): void {
  const state = locales.get(locale);
  if (state !== undefined) state.unpublished = names;
}

/** Moves a history to the definition of its type that is in force, as the graph converts its rows. */
function enter(history: DocumentHistory, eras: readonly TypeEra[]): TypeEra | undefined {
  const from = history.era === undefined ? eras.length - 1 : eras.indexOf(history.era) + 1;
  for (const era of eras.slice(Math.max(0, from))) {
    if (history.era !== undefined) convert(history, history.era, era);
    history.era = era;
  }
  return history.era;
}

function convert(history: DocumentHistory, was: TypeEra, now: TypeEra): void {
  if (was.localized !== now.localized) {
    const [from, to] = now.localized ? [null, now.defaultLocale] : [now.defaultLocale, null];
    const kept = history.locales.get(from);
    if (!now.localized) history.locales.clear();
    history.locales.delete(from);
    if (kept !== undefined) history.locales.set(to, kept);
  }
  if (was.draftAndPublish === now.draftAndPublish) return;
  for (const [locale, state] of history.locales) {
    state.draft = now.draftAndPublish;
    state.unpublished = NONE;
    // An entry that was never published does not become visible by a change of a schema.
    if (!state.published) history.locales.delete(locale);
  }
}

function among(names: ReadonlySet<string>, changed: Names): ReadonlySet<string> {
  return changed === 'all' ? names : (names.intersection(changed) as ReadonlySet<string>);
}

function union(one: Names, other: Names): Names {
  if (one === 'all' || other === 'all') return 'all';
  return one.size === 0 ? other : one.union(other);
}
