import { type SearchRequest, WORLDS, type World } from '../../shared/read-index/read-index.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { searchOf } from '../../shared/search/search-settings.ts';
import type { EntryPlan, ListPlan } from '../query/plan-query.ts';
import type { Selection } from '../query/selection.ts';
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
import { type Narrowing, narrowingOf, orderedFields } from './narrowing.ts';
import { attributeTag, narrowTag, ROWS, type Tag, wordsTag } from './tag.ts';

/** Tags that follow from a plan. `tied`: the field of an order in which a republished row moves only among rows with the same value. */
export type PlanTags = { readonly fixed: readonly Tag[]; readonly tied: string | undefined };

/** Returns the tags that follow from the plan of a list. A tag may occur twice. */
export function tagsOfList(
  registry: SchemaRegistry,
  { search, selection, words }: Pick<ListPlan, 'search' | 'selection' | 'words'>,
): PlanTags {
  const tags: Tag[] = [];
  const add = (tag: Tag) => tags.push(tag);
  const plain = plainMention(search.world, add);
  const place = rootPlace(registry, search.type);
  const narrowing = narrowingOf(registry, contentTypeOf(registry, search.type), search.query);
  const mention = narrowed(search, narrowing, plain, add);
  mention(search.type, ROWS, true);
  mentionQuery(place, search.query, mention, narrowing?.part);
  const tied = tiedBy(registry, search, words);
  if (tied === undefined) mentionSort(place, search.sort, mention);
  else mentionKeys(place, search.sort, mention);
  for (const { query } of search.text?.placed?.boosts ?? []) mentionQuery(place, query, mention);
  mentionKeys(place, search.text?.placed?.keys ?? [], mention);
  for (const { path, field } of search.facets ?? []) mentionPath(place, path, field, mention);
  if (search.groups !== undefined) mentionPath(place, [], search.groups.field, mention);
  if (search.text !== undefined || words !== undefined) {
    add(wordsTag(search.type));
    for (const world of WORLDS) mentionTexts(place, plainMention(world, add));
  }
  mentionSelection(place, selection, plain);
  return { fixed: tags, tied };
}

/** Returns the tags that follow from the plan of an entry, and its `own`. */
export function tagsOfEntry(
  registry: SchemaRegistry,
  { type, world, query, selection }: EntryPlan,
  own: readonly Tag[],
): readonly Tag[] {
  const tags = [...own];
  const mention = plainMention(world, (tag) => tags.push(tag));
  const place = rootPlace(registry, type.uid);
  // The document's own tag covers its values and links, but not its publication state.
  mentionQuery(place, query, (of, attribute, isRoot) => {
    if (!isRoot || attribute.startsWith('$')) mention(of, attribute, false);
  });
  mentionSelection(place, selection, mention);
  return tags;
}

function plainMention(world: World, add: (tag: Tag) => unknown): Mention {
  return (type, attribute) => add(attributeTag(type, world, attribute));
}

/** Returns the field whose ties the tags name. undefined: any row that gets another id may change any page. */
function tiedBy(
  registry: SchemaRegistry,
  { type, sort, text, cursor }: SearchRequest,
  words: ListPlan['words'],
): string | undefined {
  const [first] = sort;
  if (
    first === undefined ||
    'nearest' in first ||
    first.path.length > 0 ||
    text !== undefined ||
    words !== undefined
  )
    return undefined;
  // The row at the cursor, on the page before, may move behind the cursor.
  if (cursor !== undefined && cursor.after !== null) return undefined;
  return orderedFields(contentTypeOf(registry, type)).has(first.field) ? first.field : undefined;
}

/** Returns mentions that narrow the tags of the searched rows by an equality that all of them satisfy. */
function narrowed(
  { type, world }: Pick<SearchRequest, 'type' | 'world'>,
  narrowing: Narrowing | undefined,
  plain: Mention,
  add: (tag: Tag) => unknown,
): Mention {
  if (narrowing === undefined) return plain;
  const { equality } = narrowing;
  return (of, attribute, isRoot) => {
    if (isRoot && attribute !== equality.field) add(narrowTag(type, world, equality, attribute));
    else if (!isRoot) plain(of, attribute, false);
  };
}

/** Mentions the texts of related rows that a search by words reads. */
function mentionTexts(place: QueryPlace, mention: Mention): void {
  for (const { name, path } of searchOf(place.registry, place.type).fields) {
    const field = name.split('.').at(-1);
    if (path.length > 0 && field !== undefined) mentionPath(place, path, field, mention);
  }
}

/** Mentions attributes of linked rows that decide which of them are shown, and in which order. These may be rows that are not shown. */
function mentionSelection(
  place: QueryPlace,
  { populate }: Pick<Selection, 'populate'>,
  mention: Mention,
): void {
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

/** The tags of the shown rows cover their links to other rows. */
const NOTHING: Mention = () => {};
