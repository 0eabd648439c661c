import type { Hits, World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { ShownRows } from '../query/gather-rows.ts';
import type { EntryPlan, ListPlan } from '../query/plan-query.ts';
import type { PopulateNode, Selection } from '../query/selection.ts';
import { allTags, type CollectedTags, type RowTagKind, type RowTags } from './collected-tags.ts';
import { isOrderValue } from './narrowing.ts';
import { tagsOfEntry, tagsOfList } from './plan-tags.ts';
import { documentIdOf, readSource } from './read-source.ts';
import { rememberedByName } from './remembered-by-name.ts';
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

/** Creates the tags of an answer that has shown nothing yet. */
export function createAnswerTags(registry: SchemaRegistry): AnswerTags {
  let planned: readonly Tag[] | undefined;
  let tied: Tied | undefined;
  const rows: RowTags[] = [];
  const plan = (more: readonly Tag[]) => {
    planned = planned === undefined ? more : [...planned, ...more];
  };
  const collected = () => planned && { fixed: planned, rows };
  return {
    list(list) {
      const tags = tagsOfList(registry, list);
      const { search, selection } = list;
      tied = tags.tied === undefined ? undefined : { type: search.type, field: tags.tied, selection };
      plan(tags.fixed);
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
        rows.push({ kind: tieKind(tied.type, world, tied.field), hits: endsOf(hits) });
      rows.push({ kind: documentKind(type, world), hits });
      for (const relation of inverseRelations(registry, type, selection.populate))
        rows.push({ kind: inverseKind(type, world, relation), hits });
    },
    collected,
    all() {
      const tags = collected();
      return tags && allTags(tags);
    },
  };
}

/** Order of a list in which a republished row moves only among rows with the same value in a field. */
type Tied = { readonly type: Uid; readonly field: string; readonly selection: Selection };

/** Returns the first and the last row. A row that moves into a page passes one of these, so it has the same value. */
function endsOf(hits: Hits): Hits {
  const last = hits.rows.length - 1;
  if (last < 2) return hits;
  const ends = <Item>(items: readonly Item[]) => [items[0], items[last]] as readonly Item[];
  return { rows: ends(hits.rows), sources: ends(hits.sources) };
}

const tieKind = rememberedByName(
  (type, world, field): RowTagKind => ({
    type,
    world,
    key: `o ${world} ${type} ${field}`,
    tagOf(source) {
      const value = readSource(source)[field];
      return isOrderValue(value) ? tieTag(type, world, { field, value }) : attributeTag(type, world, 'id');
    },
  }),
);

const documentKind = rememberedByName(
  (type, world): RowTagKind => ({
    type,
    world,
    key: `d ${world} ${type}`,
    tagOf: (source) => documentTag(type, world, documentIdOf(source)),
  }),
);

function inverseKind(type: Uid, world: World, relation: Relation): RowTagKind {
  return {
    type,
    world,
    key: `i ${world} ${type} ${relation.type}.${relation.attribute}`,
    tagOf: (source) => inverseTag(type, world, documentIdOf(source), relation),
  };
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
