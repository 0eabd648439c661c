import { assertNever } from '../../shared/assert-never.ts';
import type { Entry } from '../../shared/document/entry.ts';
import type { DocumentEvent, EntryValues, RelationOperation } from '../../shared/document/events.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { jsonEqual } from './json-equal.ts';

/** State of a document in the content graph: all rows in all locales. */
export type DocumentState = {
  readonly type: ContentType;
  readonly documentId: string;
  readonly entries: readonly Entry[];
};

/**
 * A validated command. `write` has stored values (null clears) and normalised relation operations; with `publish`, on a type with draft &
 * publish, the same append publishes the entry. Only imports set `id`.
 */
export type Intent =
  | {
      readonly kind: 'write';
      readonly locale: string | null;
      readonly values: EntryValues;
      readonly relations: readonly RelationOperation[];
      /** Relations that a new locale copies from the other locales, see `inheritedValues`. */
      readonly inheritedRelations?: readonly RelationOperation[];
      readonly publish: boolean;
      readonly id?: number;
    }
  | { readonly kind: 'publish' | 'unpublish' | 'discard-draft' | 'delete'; readonly locale: string | null };

/** Returns the events for `intent` on `state`: none when there is nothing to do. The input is already validated. */
export function decide(intent: Intent, state: DocumentState): readonly DocumentEvent[] {
  const { locale } = intent;
  const about = { type: state.type.uid, documentId: state.documentId, locale };
  const draft = draftOf(state, locale);
  const isPublished = publishedOf(state, locale) !== undefined;
  switch (intent.kind) {
    case 'write':
      return decideWrite(intent, state, draft);
    case 'publish':
      return draft === undefined ? [] : [{ type: 'entry-published', data: about }];
    case 'unpublish':
      return isPublished ? [{ type: 'entry-unpublished', data: about }] : [];
    case 'discard-draft':
      return isPublished ? [{ type: 'draft-discarded', data: about }] : [];
    case 'delete':
      return draft === undefined && !isPublished ? [] : [{ type: 'entry-deleted', data: about }];
    default:
      return assertNever(intent);
  }
}

/** Returns the row that edits change: the draft, or the only row of a type without draft & publish. */
export function draftOf({ entries }: DocumentState, locale: string | null): Entry | undefined {
  return entries.find((entry) => entry.locale === locale && entry.version !== 'published');
}

/** Returns the published row of a locale; undefined if it is not published or its type has no drafts. */
export function publishedOf({ entries }: DocumentState, locale: string | null): Entry | undefined {
  return entries.find((entry) => entry.locale === locale && entry.version === 'published');
}

/** Values of an entry after a write, without the cleared ones: the input for validating a publication. */
export function mergedValues(state: DocumentState, locale: string | null, values: EntryValues): EntryValues {
  const merged: Record<string, unknown> = {};
  const before = draftOf(state, locale)?.values ?? inheritedValues(state);
  for (const source of [before, values]) {
    for (const [name, value] of Object.entries(source)) {
      if (value === null || value === undefined) delete merged[name];
      else merged[name] = value;
    }
  }
  return merged;
}

/** Initial values of a new locale of a document: the values that all locales share, with new components. */
function inheritedValues(state: DocumentState): EntryValues {
  const sibling = state.entries.find(({ version }) => version !== 'published');
  if (sibling === undefined) return {};
  const shared = Object.entries(sibling.values).filter(([name]) => isShared(state.type, name));
  return Object.fromEntries(shared.map(([name, value]) => [name, withoutComponentIds(value)]));
}

/** Returns whether all locales of a document share the attribute. */
export function isShared(type: ContentType, attribute: string): boolean {
  return type.localized && type.attributes.get(attribute)?.localized === false;
}

function decideWrite(
  intent: Intent & { readonly kind: 'write' },
  state: DocumentState,
  draft: Entry | undefined,
): readonly DocumentEvent[] {
  const { type, documentId } = state;
  const about = { type: type.uid, documentId, locale: intent.locale };
  const publish = intent.publish && type.draftAndPublish;
  const published: readonly DocumentEvent[] = publish ? [{ type: 'entry-published', data: about }] : [];
  const shared = sharedNames(type, intent);
  if (draft === undefined) {
    const values = mergedValues(state, intent.locale, intent.values);
    const relations = [...(intent.inheritedRelations ?? []), ...intent.relations].filter(linksSomething);
    const id = intent.id === undefined ? {} : { id: intent.id };
    const data = { ...about, values, shared: namesIn(shared, values, relations), relations, ...id };
    return [{ type: 'entry-created', data }, ...published];
  }
  const values = changedValues(draft.values, intent.values);
  const { relations } = intent;
  // An edit that changes nothing is recorded too, unless it publishes, because `updatedAt` changes, as in Strapi.
  if (publish && Object.keys(values).length === 0 && relations.length === 0) return published;
  const data = { ...about, values, shared: namesIn(shared, values, relations), relations };
  return [{ type: 'entry-changed', data }, ...published];
}

/** Returns whether an operation on a new entry adds a link. There are no links to clear: links from other entries (of an import) remain. */
function linksSomething(operation: RelationOperation): boolean {
  return operation.kind === 'set' ? operation.targets.length > 0 : operation.connect.length > 0;
}

function namesIn(
  names: readonly string[],
  values: EntryValues,
  relations: readonly RelationOperation[],
): string[] {
  return names.filter((name) => name in values || relations.some(({ attribute }) => attribute === name));
}

function sharedNames(
  type: ContentType,
  { values, relations }: Intent & { readonly kind: 'write' },
): string[] {
  if (!type.localized) return [];
  const names = [...Object.keys(values), ...relations.map(({ attribute }) => attribute)];
  return names.filter((name) => isShared(type, name));
}

function changedValues(before: EntryValues, after: EntryValues): EntryValues {
  const changed = Object.entries(after).filter(
    ([name, value]) => value !== undefined && !jsonEqual(value, before[name] ?? null),
  );
  return Object.fromEntries(changed);
}

function withoutComponentIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutComponentIds);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => name !== 'id');
  return Object.fromEntries(members.map(([name, member]) => [name, withoutComponentIds(member)]));
}
