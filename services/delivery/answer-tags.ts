import type { Hits, World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { ShownRows } from '../query/gather-rows.ts';
import type { EntryPlan, ListPlan } from '../query/plan-query.ts';
import type { PopulateNode, Selection } from '../query/selection.ts';
import { isOrderValue } from './narrowing.ts';
import { tagsOfEntry, tagsOfList } from './plan-tags.ts';
import { documentIdOf, readSource } from './read-source.ts';
import { attributeTag, documentTag, inverseTag, type Relation, ROWS, type Tag, tieTag } from './tag.ts';

/** Collects the tags of one answer: from its plan, and from the rows that it shows. */
export type AnswerTags = {
  list(plan: ListPlan): void;
  /** Adds the tag of a document, which may be missing. */
  entry(plan: EntryPlan, documentId: string): void;
  /** Adds the tags of a single type's document. Another document may replace it. */
  single(plan: EntryPlan): void;
  /** Called for the rows of an answer while it is made. */
  readonly shown: ShownRows;
  /** Returns the tags; undefined if the answer has no plan. Then it depends on the whole content. */
  collected(): CollectedTags | undefined;
  /** Returns the same tags as one set. */
  all(): ReadonlySet<Tag> | undefined;
};

/** Tags of an answer. A tag may occur twice. The tags of the rows follow from their sources. */
export type CollectedTags = {
  readonly fixed: readonly Tag[];
  readonly documents: readonly ShownDocuments[];
};

export type ShownDocuments = {
  readonly type: Uid;
  readonly world: World;
  readonly sources: readonly Uint8Array[];
};

/** Returns all tags. */
export function allTags({ fixed, documents }: CollectedTags): ReadonlySet<Tag> {
  const tags = new Set(fixed);
  for (const { type, world, sources } of documents)
    for (const source of sources) tags.add(documentTag(type, world, documentIdOf(source)));
  return tags;
}

/** Creates the tags of an answer that has shown nothing yet. */
export function createAnswerTags(registry: SchemaRegistry): AnswerTags {
  const fixed: Tag[] = [];
  const documents: ShownDocuments[] = [];
  let isPlanned = false;
  let tied: Tied | undefined;
  const plan = (more: readonly Tag[]) => {
    isPlanned = true;
    for (const tag of more) fixed.push(tag);
  };
  const collected = () => (isPlanned ? { fixed, documents } : undefined);
  return {
    list(list) {
      const { fixed: planned, tied: field } = tagsOfList(registry, list);
      tied = field === undefined ? undefined : { field, selection: list.selection };
      plan(planned);
    },
    entry(entry, documentId) {
      plan(tagsOfEntry(registry, entry, [documentTag(entry.type.uid, entry.world, documentId)]));
    },
    single(entry) {
      const rowsIn = (world: World) => attributeTag(entry.type.uid, world, ROWS);
      // The search for the document reads all drafts.
      plan(tagsOfEntry(registry, entry, [rowsIn('draft'), rowsIn(entry.world)]));
    },
    shown({ type, path }, world, hits, selection) {
      if (path.length > 0) return;
      if (selection === tied?.selection)
        for (const source of endsOf(hits)) fixed.push(tieTagOf(type, world, tied.field, source));
      documents.push({ type, world, sources: hits.sources });
      for (const relation of inverseRelations(registry, type, selection.populate))
        for (const source of hits.sources)
          fixed.push(inverseTag(type, world, documentIdOf(source), relation));
    },
    collected,
    all: () => (isPlanned ? allTags({ fixed, documents }) : undefined),
  };
}

/** Order of a list in which a republished row moves only among rows with the same value in a field. */
type Tied = { readonly field: string; readonly selection: Selection };

/** Returns the sources of the first and the last row. A row that moves into a page passes one of these, so it has the same value. */
function endsOf({ sources }: Hits): readonly Uint8Array[] {
  return sources.length > 2 ? [sources[0] as Uint8Array, sources.at(-1) as Uint8Array] : sources;
}

function tieTagOf(type: Uid, world: World, field: string, source: Uint8Array): Tag {
  const value = readSource(source)[field];
  return isOrderValue(value) ? tieTag(type, world, { field, value }) : attributeTag(type, world, 'id');
}

/** Returns relations of `type` that the answer shows from their inverse side. */
function inverseRelations(
  registry: SchemaRegistry,
  type: Uid,
  populate: readonly PopulateNode[],
): readonly Relation[] {
  if (populate.length === 0) return [];
  const { attributes } = contentTypeOf(registry, type);
  return populate.flatMap((node) => {
    const attribute = attributes.get(node.attribute);
    if (attribute?.kind !== 'relation' || attribute.mappedBy === undefined) return [];
    return [{ type: attribute.target, attribute: attribute.mappedBy }];
  });
}
