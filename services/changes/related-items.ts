import type { DocumentName } from '../../shared/document/recorded-rows.ts';
import {
  MAX_RELATED,
  type RelatedDocument,
  type RelatedOptions,
  relatedDocuments,
} from '../../shared/document/related-documents.ts';
import { allowedComponents } from '../../shared/schema/component-uids.ts';
import type { Model, Uid } from '../../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { type FeedItem, isSelected } from './feed-item.ts';
import type { LogChange } from './read-changes.ts';
import type { FeedSelection } from './selection.ts';

/**
 * Returns items for the documents that show a changed document in a relation. If there are too many of one type, an item names only the
 * type. `registry` is the one that the caller sees.
 */
export function relatedItems(
  options: RelatedOptions,
  selection: FeedSelection,
  registry: SchemaRegistry,
  change: LogChange,
): readonly FeedItem[] {
  const { type, documentId, rows } = change;
  const all = { ...selection, types: selection.visible, locales: undefined };
  const seen = rows.filter((row) => isSelected(all, type, row));
  if (seen.length === 0) return [];
  const isLive = selection.visible.get(type)?.draftAndPublish === false;
  const worlds = new Set<string>(isLive ? ['draft', 'published'] : seen.map(({ status }) => status));
  const related = relatedDocuments(options, change, worlds).filter((one) => {
    const shown = selection.types.get(one.type);
    return shown !== undefined && showsType(registry, shown, type, new Set());
  });
  const item = itemFor({ type, documentId }, change);
  return [...Map.groupBy(related, ({ type: uid }) => uid)].flatMap(([uid, documents]) =>
    documents.length > MAX_RELATED
      ? [...selection.statuses].map((status) => item({ type: uid }, status, []))
      : documents.flatMap((document) => itemsOf(selection, document, item)),
  );
}

type MakeItem = (
  name: { readonly type: Uid; readonly documentId?: string },
  status: FeedItem['status'],
  locales: readonly string[],
) => FeedItem;

function itemFor(cause: DocumentName, { position, at }: LogChange): MakeItem {
  const common = { event: 'related', position: String(position), at, cause } as const;
  return (name, status, locales) => ({ ...name, status, locales, ...common });
}

function itemsOf(selection: FeedSelection, { type, documentId, rows }: RelatedDocument, item: MakeItem) {
  return (['draft', 'published'] as const).flatMap((status) => {
    const found = rows.filter(
      ({ locale, version }) =>
        (version === 'live' ? 'published' : version) === status &&
        isSelected(selection, type, { status, locale }),
    );
    const locales = found.flatMap(({ locale }) => locale ?? []).sort();
    return found.length === 0 ? [] : [item({ type, documentId }, status, locales)];
  });
}

/** Returns whether an answer of a type can show a document of another type, in a relation of its own or of its components. */
function showsType(registry: SchemaRegistry, model: Model, target: Uid, passed: Set<Uid>): boolean {
  if (passed.has(model.uid)) return false;
  passed.add(model.uid);
  return [...model.attributes.values()].some((attribute) => {
    if (attribute.private) return false;
    if (attribute.kind === 'relation') return attribute.target === target;
    return allowedComponents(attribute).some((uid) => {
      const component = registry.components.get(uid);
      return component !== undefined && showsType(registry, component, target, passed);
    });
  });
}
