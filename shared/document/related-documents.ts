import type { RowVersion } from '../read-index/read-index.ts';
import type { SchemaRegistry } from '../schema/schema-registry.ts';
import type { ContentGraphReader } from './entry.ts';
import type { DocumentName, RecordedRows } from './recorded-rows.ts';

/** Consumers name at most this many documents that a changed document is linked with, unless an option says otherwise. */
export const MAX_RELATED = 1_000;

/** A document that is linked with another document, and its rows in the requested worlds. */
export type RelatedDocument = DocumentName & {
  readonly rows: readonly { readonly locale: string | null; readonly version: RowVersion }[];
};

export type RelatedOptions = {
  readonly registry: SchemaRegistry;
  readonly graph: { readonly recorded: RecordedRows; readonly reader: ContentGraphReader };
};

/** Returns documents with rows in these worlds that are now linked with this document, in either direction. */
export function relatedDocuments(
  { registry, graph }: RelatedOptions,
  { type, documentId }: DocumentName,
  worlds: ReadonlySet<string>,
): readonly RelatedDocument[] {
  const attributes = registry.contentTypes.get(type)?.attributes;
  const linked = graph.recorded.links(type, documentId).flatMap(({ attribute, far }) => {
    const relation = attributes?.get(attribute);
    return relation?.kind === 'relation' ? [{ type: relation.target, documentId: far.documentId }] : [];
  });
  const names = [...linked, ...graph.recorded.owners(type, documentId)];
  const related = new Map(names.map((name) => [`${name.type} ${name.documentId}`, name]));
  related.delete(`${type} ${documentId}`);
  return [...related.values()].flatMap((name) => {
    if (registry.contentTypes.get(name.type)?.builtIn !== false) return [];
    const rows = graph.reader
      .entries(name.type, name.documentId)
      .filter(({ version }) => version === 'live' || worlds.has(version));
    return rows.length === 0 ? [] : [{ ...name, rows }];
  });
}
