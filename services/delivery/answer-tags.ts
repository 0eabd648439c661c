import { type Hits, type SearchRequest, WORLDS, type World } from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { searchOf } from '../../shared/search/search-settings.ts';
import type { ShownRows } from '../query/gather-rows.ts';
import type { EntryPlan, ListPlan } from '../query/plan-query.ts';
import type { PopulateNode, Selection } from '../query/selection.ts';
import { allTags, type CollectedTags, type RowTagKind, type RowTags } from './collected-tags.ts';
import {
  type Mention,
  mentionKeys,
  mentionPath,
  mentionQuery,
  mentionSort,
  type QueryPlace,
  rootPlace,
  stepInto,
  stepIntoZone,
} from './mentions.ts';
import { isOrderValue, type Narrowing, narrowingOf, orderedFields, withoutPart } from './narrowing.ts';
import { documentIdOf, readSource } from './read-source.ts';
import { rememberedByName } from './remembered-by-name.ts';
import {
  attributeTag,
  documentTag,
  inverseTag,
  narrowTag,
  type Relation,
  ROWS,
  type Tag,
  tieTag,
  wordsTag,
} from './tag.ts';

/** Collects the tags of one answer: from its plan, and from the rows that it shows. */
export type AnswerTags = {
  list(plan: ListPlan): void;
  /** Also for a document that is not there. */
  entry(plan: EntryPlan, documentId: string): void;
  /** The document of a single type, whichever it is. */
  single(plan: EntryPlan): void;
  /** Is called for the rows of an answer while it is made. */
  readonly shown: ShownRows;
  /** undefined: the answer has no plan, and follows from the whole content. */
  collected(): CollectedTags | undefined;
  /** The same as one set. */
  all(): ReadonlySet<Tag> | undefined;
};

/** Creates the tags of an answer that has shown nothing yet. */
export function createAnswerTags(registry: SchemaRegistry): AnswerTags {
  const tags = new Set<Tag>();
  const rows: RowTags[] = [];
  let isPlanned = false;
  let tied: Tied | undefined;
  const add = (tag: Tag) => tags.add(tag);
  const plain =
    (world: World): Mention =>
    (type, attribute) =>
      add(attributeTag(type, world, attribute));
  const addEntry = (plan: EntryPlan): void => {
    isPlanned = true;
    const mention = plain(plan.world);
    // The document's own tag has its values and links, but not the state of its publication.
    mentionQuery(rootPlace(registry, plan.type.uid), plan.query, (type, attribute, isRoot) => {
      if (!isRoot || attribute.startsWith('$')) mention(type, attribute, false);
    });
    mentionSelection(rootPlace(registry, plan.type.uid), plan.selection, mention);
  };
  return {
    list(plan) {
      isPlanned = true;
      const { search, selection, words } = plan;
      const place = rootPlace(registry, search.type);
      const narrowing = narrowingOf(registry, contentTypeOf(registry, search.type), search.query);
      const mention = narrowed(search, narrowing, plain(search.world), add);
      mention(search.type, ROWS, true);
      const rest = narrowing === undefined ? search.query : withoutPart(search.query, narrowing.part);
      mentionQuery(place, rest, mention);
      tied = tiedBy(registry, plan);
      if (tied === undefined) mentionSort(place, search.sort, mention);
      else mentionKeys(place, search.sort, mention);
      for (const { path, field } of search.facets ?? []) mentionPath(place, path, field, mention);
      if (search.text !== undefined || words !== undefined) {
        add(wordsTag(search.type));
        for (const world of WORLDS) mentionTexts(place, plain(world));
      }
      mentionSelection(place, selection, plain(search.world));
    },
    entry(plan, documentId) {
      add(documentTag(plan.type.uid, plan.world, documentId));
      addEntry(plan);
    },
    single(plan) {
      // The document is looked for among all drafts.
      add(attributeTag(plan.type.uid, 'draft', ROWS));
      add(attributeTag(plan.type.uid, plan.world, ROWS));
      addEntry(plan);
    },
    shown({ type, path }, world, hits, selection) {
      if (path.length > 0) return;
      const { populate } = selection;
      if (selection === tied?.selection)
        rows.push({ kind: tieKind(tied.type, world, tied.field), hits: endsOf(hits) });
      rows.push({ kind: documentKind(type, world), hits });
      for (const relation of inverseRelations(registry, type, populate))
        rows.push({ kind: inverseKind(type, world, relation), hits });
    },
    collected: () => (isPlanned ? { fixed: tags, rows } : undefined),
    all: () => (isPlanned ? allTags({ fixed: tags, rows }) : undefined),
  };
}

/** Order of a list whose rows change places only among those with the same value in a field. */
type Tied = { readonly type: Uid; readonly field: string; readonly selection: Selection };

/** undefined: any row that gets another id may change any page. */
function tiedBy(registry: SchemaRegistry, { search, selection, words }: ListPlan): Tied | undefined {
  const { type, sort, text, cursor } = search;
  const [first] = sort;
  if (first === undefined || first.path.length > 0 || text !== undefined || words !== undefined)
    return undefined;
  // A row at the cursor, which is on the page before, may move behind it.
  if (cursor !== undefined && cursor.after !== null) return undefined;
  const { field } = first;
  return orderedFields(contentTypeOf(registry, type)).has(field) ? { type, field, selection } : undefined;
}

/** A row that is not shown reaches a page only past the first or the last row of it, so it has the value of one of them. */
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

/** Mentions of the rows that are searched, narrowed by an equality that all of them satisfy. */
function narrowed(
  { type, world }: SearchRequest,
  narrowing: Narrowing | undefined,
  plain: Mention,
  add: (tag: Tag) => void,
): Mention {
  if (narrowing === undefined) return plain;
  const { equality } = narrowing;
  return (of, attribute, isRoot) => {
    if (isRoot && attribute !== equality.field) add(narrowTag(type, world, equality, attribute));
    else if (!isRoot) plain(of, attribute, false);
  };
}

/** Texts of related rows that a search by words looks at. */
function mentionTexts(place: QueryPlace, mention: Mention): void {
  for (const { name, path } of searchOf(place.registry, place.type).fields) {
    const field = name.split('.').at(-1);
    if (path.length > 0 && field !== undefined) mentionPath(place, path, field, mention);
  }
}

/** Which linked rows are shown, and in which order, may follow from rows that are not shown. */
function mentionSelection(place: QueryPlace, { populate }: Selection, mention: Mention): void {
  for (const node of populate) {
    if (node.kind === 'zone') {
      for (const [kind, part] of node.components) {
        const inside = stepIntoZone(place, node.attribute, kind, NOTHING);
        mentionQuery(inside, part.query, mention);
        mentionSelection(inside, part.selection, mention);
      }
      continue;
    }
    const below = stepInto(place, node.attribute, NOTHING);
    mentionQuery(below, node.query, mention);
    if (node.sort.length > 0) mentionSort(below, node.sort, mention);
    if (node.countOnly && node.kind === 'relation') mention(node.target, ROWS, false);
    mentionSelection(below, node.selection, mention);
  }
}

/** The tags of the rows that are shown have the links that lead to others. */
const NOTHING: Mention = () => {};

/** Relations of `type` that are shown from their inverse side. */
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
