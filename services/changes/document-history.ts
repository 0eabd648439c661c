import { assertNever } from '../../shared/assert-never.ts';
import { type DocumentEvent, isDocumentEvent } from '../../shared/document/events.ts';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import type { World } from '../../shared/read-index/read-index.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { attributeOf, type ComponentParts, changedParts, digestParts } from './component-parts.ts';
import type { TypeEra } from './type-eras.ts';

/** Change of one row: a document in one locale and version. */
export type VersionChange = {
  readonly locale: string | null;
  /** World of the row. All rows of a type without draft & publish are published. */
  readonly status: World;
  readonly event: 'create' | 'update' | 'delete';
  /** Attributes of the schema, and paths into components, that may differ from before; `all` if the event does not say which. */
  readonly changed: Names;
  /**
   * Present if the row became a copy of the other version. Other documents may have changed its links after this position. Absent if the
   * event wrote the row itself.
   */
  readonly linksAfter?: bigint;
};

type Names = ReadonlySet<string> | 'all';

type Parts = ReadonlyMap<string, ComponentParts>;

type LocaleState = {
  readonly draft: boolean;
  readonly published: boolean;
  /** Attributes and paths that were changed since the draft was published. */
  readonly unpublished: Names;
  /** Components of the draft row, or of the only row, by attribute. */
  readonly parts: Parts;
  readonly publishedParts: Parts;
  /** Last position at which both versions were equal. */
  readonly equalAt: bigint;
};

/** Rows of a document, as its own events describe them. */
export type DocumentHistory = {
  /** Revision of the next event. */
  next: bigint;
  era: TypeEra | undefined;
  locales: Map<string | null, LocaleState>;
};

/** Returns the history of a document without events. */
export function newHistory(): DocumentHistory {
  return { next: 0n, era: undefined, locales: new Map() };
}

/** Copies a history. Events that are added to the copy do not change the original. */
export function copyHistory({ next, era, locales }: DocumentHistory): DocumentHistory {
  return { next, era, locales: new Map(locales) };
}

const NONE: ReadonlySet<string> = new Set();
const NO_PARTS: Parts = new Map();
const NEW: LocaleState = {
  draft: false,
  published: false,
  unpublished: NONE,
  parts: NO_PARTS,
  publishedParts: NO_PARTS,
  equalAt: 0n,
};

/** Definitions of the document's type up to an event, and the content types in force. */
export type HistoryTypes = { readonly eras: readonly TypeEra[]; readonly registry: SchemaRegistry };

/** Adds an event that is not fenced off, and returns the rows that it changed. */
export function addEvent(
  history: DocumentHistory,
  stored: StoredEvent,
  { eras, registry }: HistoryTypes,
): readonly VersionChange[] {
  history.next = stored.revision + 1n;
  if (!isDocumentEvent(stored)) return [];
  const era = enter(history, eras);
  if (era === undefined) return [];
  const changes: VersionChange[] = [];
  applyEvent(
    { history, era, registry, position: stored.position, note: (change) => void changes.push(change) },
    stored as unknown as DocumentEvent,
  );
  return changes;
}

function applyEvent(context: Context, event: DocumentEvent): void {
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
      putImported(context, event.data);
      break;
    case 'entry-unpublished':
      remove(context, event.data.locale, ['published']);
      break;
    case 'entry-deleted':
      remove(context, event.data.locale, ['draft', 'published']);
      break;
    default:
      assertNever(event);
  }
}

type Context = {
  readonly history: DocumentHistory;
  readonly era: TypeEra;
  readonly registry: SchemaRegistry;
  readonly position: bigint;
  readonly note: (change: VersionChange) => void;
};

type Data<Type extends DocumentEvent['type']> = (DocumentEvent & { type: Type })['data'];

function stateOf({ locales }: DocumentHistory, locale: string | null): LocaleState {
  return locales.get(locale) ?? NEW;
}

/** Writes a row, which may be new, and sets members of its locale's state. */
function put(
  { history, note }: Context,
  locale: string | null,
  { status, changed, ...copied }: Pick<VersionChange, 'status' | 'changed' | 'linksAfter'>,
  to: Partial<LocaleState> = {},
): void {
  const state = stateOf(history, locale);
  note({ locale, status, event: state[status] ? 'update' : 'create', changed, ...copied });
  change(history, locale, { [status]: true, unpublished: union(state.unpublished, changed), ...to });
}

function change(history: DocumentHistory, locale: string | null, to: Partial<LocaleState>): void {
  history.locales.set(locale, { ...stateOf(history, locale), ...to });
}

/** Returns digests of the components in an event's values, by attribute. */
function digestValues(
  { registry }: Context,
  { type, values }: Pick<Data<'entry-changed'>, 'type' | 'values'>,
): Parts {
  const attributes = registry.contentTypes.get(type)?.attributes;
  return new Map(
    Object.entries(values).flatMap(([name, value]) => {
      const attribute = attributes?.get(name);
      const isComponent = attribute?.kind === 'component' || attribute?.kind === 'dynamiczone';
      return isComponent ? [[name, digestParts(registry, attribute, value)] as const] : [];
    }),
  );
}

function putImported(context: Context, data: Data<'entry-imported'>): void {
  const status = data.version === 'draft' ? 'draft' : 'published';
  const written = data.version === 'published' ? 'publishedParts' : 'parts';
  put(context, data.locale, { status, changed: 'all' }, { [written]: digestValues(context, data) });
}

function edit(context: Context, data: Data<'entry-changed'>): void {
  const { history, era } = context;
  const names = new Set([...Object.keys(data.values), ...data.relations.map(({ attribute }) => attribute)]);
  const parts = digestValues(context, data);
  const status = era.draftAndPublish ? 'draft' : 'published';
  editRow(context, data.locale, { status, names, parts });
  if (data.shared.length === 0) return;
  const shared = { names: new Set(data.shared), parts: only(parts, new Set(data.shared)) };
  for (const [locale, state] of [...history.locales])
    if (locale !== data.locale && state[status]) editRow(context, locale, { status, ...shared });
}

type RowEdit = { readonly status: World; readonly names: ReadonlySet<string>; readonly parts: Parts };

/** Changes a row of the history. For components it names only the paths that differ. */
function editRow(context: Context, locale: string | null, { status, names, parts }: RowEdit): void {
  const before = stateOf(context.history, locale).parts;
  const changed = new Set([...names].filter((name) => !parts.has(name)));
  for (const [name, after] of parts)
    for (const path of changedParts(before.get(name), after)) changed.add(path);
  put(context, locale, { status, changed }, { parts: new Map([...before, ...parts]) });
}

/** Shared values are published in all published locales of the document. */
function publish(context: Context, locale: string | null): void {
  const { history, era, position } = context;
  const { unpublished: changed, parts, equalAt: linksAfter } = stateOf(history, locale);
  const equal = { unpublished: NONE, publishedParts: parts, equalAt: position };
  put(context, locale, { status: 'published', changed, linksAfter }, equal);
  for (const [other, state] of [...history.locales]) {
    if (other === locale || !state.published) continue;
    const shared = among(era.shared, state.unpublished);
    if (shared.size === 0) continue;
    const publishedParts = new Map([...state.publishedParts, ...only(parts, era.shared)]);
    const unpublished = state.unpublished === 'all' ? 'all' : state.unpublished.difference(shared);
    put(context, other, { status: 'published', changed: shared }, { publishedParts, unpublished });
  }
}

function discard(context: Context, locale: string | null): void {
  const { history, era, position } = context;
  const { unpublished: changed, publishedParts: parts, equalAt: linksAfter } = stateOf(history, locale);
  const equal = { unpublished: NONE, parts, equalAt: position };
  put(context, locale, { status: 'draft', changed, linksAfter }, equal);
  const shared = among(era.shared, changed);
  if (shared.size === 0) return;
  for (const [other, state] of [...history.locales]) {
    if (other === locale || !state.draft) continue;
    const own = new Map([...state.parts, ...only(parts, era.shared)]);
    put(context, other, { status: 'draft', changed: shared }, { parts: own });
  }
}

function remove({ history, note }: Context, locale: string | null, statuses: readonly World[]): void {
  const state = history.locales.get(locale);
  if (state === undefined) return;
  for (const status of statuses) {
    if (state[status]) note({ locale, status, event: 'delete', changed: NONE });
    change(history, locale, { [status]: false });
  }
  const left = stateOf(history, locale);
  if (!left.draft && !left.published) history.locales.delete(locale);
}

/** Converts a history to the newest definition of its type, as the graph converts rows. */
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
  for (const [locale, state] of [...history.locales]) {
    const parts = now.draftAndPublish ? state.parts : state.publishedParts;
    change(history, locale, { draft: now.draftAndPublish, unpublished: NONE, parts, publishedParts: parts });
    // A change of the schema must not publish an entry that was never published.
    if (!state.published) history.locales.delete(locale);
  }
}

function among(names: ReadonlySet<string>, changed: Names): ReadonlySet<string> {
  return changed === 'all' ? names : new Set([...changed].filter((path) => names.has(attributeOf(path))));
}

function only(parts: Parts, names: ReadonlySet<string>): Parts {
  return new Map([...parts].filter(([name]) => names.has(name)));
}

function union(one: Names, other: Names): Names {
  if (one === 'all' || other === 'all') return 'all';
  return one.size === 0 ? other : one.union(other);
}
