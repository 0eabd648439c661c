import { assertNever } from '../../../assert-never.ts';
import { B, K1 } from '../../../search/bm25.ts';
import { VALUE_GAP } from '../../../search/rank-hits.ts';
import { PUBLICATION_STATE_FIELD } from '../../bool-query.ts';
import { isCountable } from '../../facet-values.ts';
import {
  type DocumentLayout,
  hasCopiedLists,
  hasLinkKeys,
  type Place,
  type PlacedRelation,
  type PlacedScalar,
  type PlacedStep,
  pointName,
} from './document-layout.ts';
import { stemsName, VOCABULARY_FIELD, WORDS_FIELD } from './word-tokens.ts';

/** Largest offset, and the largest offset with the rows that one page may add. */
export const OFFSET_LIMIT = 100_000;
export const WINDOW = OFFSET_LIMIT + 10_000;

/**
 * Limits of one index. They are Elasticsearch's own defaults, but higher if a content type of fifty attributes with relations would exceed
 * them.
 */
export const FIELD_LIMIT = 3000;
const NESTED_LIMIT = 100;
const DEPTH_LIMIT = 20;
/** Elasticsearch's default limit of nested lists that contain nested lists. */
const PARENT_LIMIT = 50;
/** Maximum components and copies in the lists of one document. Elasticsearch's own default is 10,000. */
const NESTED_OBJECTS_LIMIT = 100_000;

/** Maximum characters of a pattern for a word: several times as many as in the longest query. */
const LONGEST_PATTERN = 10_000;

/** Rows, or components of one row, that one request reads if all of them are needed. */
export const PAGE_OF_KEYS = 10_000;

type Mapping = { readonly [name: string]: unknown };
type Properties = { [name: string]: Mapping };

/**
 * Returns the body that creates an index for a layout. It uses only types and features of every official distribution without a licence.
 */
export function indexDefinition(layout: DocumentLayout): Mapping {
  return {
    settings: {
      number_of_shards: 1,
      number_of_replicas: 0,
      // Writers refresh after their writes. Nothing else changes the results of searches.
      refresh_interval: '-1',
      // The index remembers deletes this long, so that a late write cannot restore a row.
      gc_deletes: '1h',
      // Only the JSON that Elasticsearch keeps for the recovery of copies is compressed: a third less after a filling.
      codec: 'best_compression',
      // Each edit makes a small segment. By default all segments below 16 MB count as equal, so every merge of small ones may write these again.
      'merge.policy.floor_segment': '2mb',
      max_result_window: WINDOW,
      max_inner_result_window: PAGE_OF_KEYS,
      'mapping.total_fields.limit': FIELD_LIMIT,
      'mapping.nested_fields.limit': NESTED_LIMIT,
      'mapping.nested_objects.limit': NESTED_OBJECTS_LIMIT,
      'mapping.depth.limit': DEPTH_LIMIT,
      max_regex_length: LONGEST_PATTERN,
      // All searched fields have the default similarity: a search over several fields fails if one of them has its own.
      'similarity.default': { type: 'BM25', k1: K1, b: B },
    },
    // Answers come from doc values, and documents can always be made again from the graph.
    mappings: { dynamic: 'strict', _source: { enabled: false }, properties: rootProperties(layout) },
  };
}

const BYTES: Mapping = { type: 'binary', doc_values: true };
const GRAMS: Mapping = { type: 'text', analyzer: 'whitespace', norms: false };
const TEXT_FORMS: Mapping = { type: 'keyword', doc_values: false };
const KEY: Mapping = { type: 'long' };
const MARK: Mapping = { type: 'keyword', doc_values: false };
const POINT: Mapping = { type: 'geo_point' };
const UNCOPIED: Mapping = { type: 'keyword', doc_values: false };

const GAP = { position_increment_gap: VALUE_GAP };
const WORDS: Mapping = { type: 'text', analyzer: 'whitespace', norms: false, ...GAP };
const STEMS: Mapping = { type: 'text', analyzer: 'whitespace', index_options: 'freqs' };

function wordProperties({ fields }: DocumentLayout['words']): Properties {
  if (fields.length === 0) return {};
  const stems = Object.fromEntries(fields.map(({ name }) => [stemsName(name), STEMS]));
  return {
    [WORDS_FIELD]: WORDS,
    [VOCABULARY_FIELD]: { type: 'keyword', index: false },
    ...group('stems', stems),
  };
}

function rootProperties({ root, sortPaths, words, points }: DocumentLayout): Properties {
  const sorts: Properties = {};
  for (const { fields } of sortPaths) {
    for (const { scalar, low, high } of fields) {
      const field = { ...valueField(scalar), index: false };
      sorts[low] = field;
      sorts[high] = field;
    }
  }
  return {
    key: KEY,
    src: BYTES,
    links: BYTES,
    parts: BYTES,
    sum: BYTES,
    ...placeProperties(root, true),
    ...group('s', sorts),
    ...group('p', Object.fromEntries(points.map((columns) => [pointName(columns), POINT]))),
    ...wordProperties(words),
  };
}

type Groups = Readonly<Record<'f' | 'g' | 'w' | 'c' | 'e' | 't', Properties>>;

/**
 * Returns the mapping of a node. `sorted`: documents are sorted by the values here, which needs doc values. JSON has no order. Components'
 * values are also read one by one, and facets count short values.
 */
function placeProperties(place: Place, sorted: boolean): Properties {
  const groups = noGroups();
  addColumns(groups, place, sorted);
  for (const step of place.steps.values()) {
    if (step.kind === 'relation') addRelation(groups, place, step, sorted);
    else groups.c[step.attribute] = componentField(step, sorted);
  }
  return {
    ...(hasCopiedLists(place) ? { u: UNCOPIED } : {}),
    ...(place.kind === 'embedded' ? {} : { x: TEXT_FORMS }),
    ...grouped(groups),
  };
}

function noGroups(): Groups {
  return { f: {}, g: {}, w: {}, c: {}, e: {}, t: {} };
}

function grouped(groups: Groups): Properties {
  return Object.assign({}, ...Object.entries(groups).map(([name, properties]) => group(name, properties)));
}

function addColumns({ f, g, w }: Groups, place: Place, sorted: boolean): void {
  for (const { field, text, ...scalar } of place.scalars.values()) {
    const isSorted = sorted && scalar.fieldType !== 'json';
    const isRead = isSorted || place.kind === 'component' || isCountable(scalar.type);
    f[field] = { ...valueField(scalar), ...(isRead ? {} : { doc_values: false }) };
    if (text === 'grams' || text === 'folded') g[field] = GRAMS;
    if (text === 'grams') w[field] = GRAMS;
  }
}

function addRelation(groups: Groups, place: Place, step: PlacedRelation, sorted: boolean): void {
  if (hasLinkKeys(step)) {
    // Semi-joins read the keys only from the documents' own rows.
    groups.t[step.field] = place.kind === 'root' ? KEY : { ...KEY, doc_values: false };
  }
  if (step.embedded === undefined) return;
  const { list, place: below } = step.embedded;
  const key = { key: { ...KEY, doc_values: false } };
  groups.e[step.field] = objectMapping(list, { ...key, ...placeProperties(below, sorted && !list) });
}

function group(name: string, properties: Properties): Properties {
  return Object.keys(properties).length === 0 ? {} : { [name]: { properties } };
}

function objectMapping(list: boolean, properties: Properties): Mapping {
  return list ? { type: 'nested', properties } : { properties };
}

function componentField(step: Exclude<PlacedStep, { kind: 'relation' }>, sorted: boolean): Mapping {
  if (step.kind === 'component') {
    return objectMapping(step.list, placeProperties(step.place, sorted && !step.list));
  }
  return objectMapping(true, sharedProperties(step.components.values()));
}

/** Returns the mapping of items that these nodes share. */
function sharedProperties(places: Iterable<Place>): Properties {
  const groups = noGroups();
  const lists: Place[] = [];
  const add = (place: Place) => {
    addColumns(groups, place, false);
    for (const step of place.steps.values()) {
      if (step.kind === 'relation') addRelation(groups, place, step, false);
      else if (step.kind === 'zone') lists.push(...step.components.values());
      else if (step.list) lists.push(step.place);
      else add(step.place);
    }
  };
  for (const place of places) add(place);
  const below = lists.length === 0 ? {} : { c: objectMapping(true, sharedProperties(lists)) };
  return { at: MARK, x: TEXT_FORMS, ...grouped(groups), ...below };
}

function valueField({ name, type, fieldType }: Pick<PlacedScalar, 'name' | 'type' | 'fieldType'>): Mapping {
  // Smaller types replace a missing value by a number that is not the largest possible one.
  if (name === PUBLICATION_STATE_FIELD) return { type: 'long' };
  switch (fieldType) {
    case 'keyword':
    case 'json':
    case 'long':
      return { type: 'keyword' };
    case 'number':
      return { type: type === 'integer' ? 'long' : 'double' };
    // Booleans are 0 and 1, because `search_after` needs values before and after both, and Elasticsearch's own booleans have none.
    case 'boolean':
    case 'time-of-day':
    case 'instant':
      return { type: 'long' };
    default:
      return assertNever(fieldType);
  }
}

/**
 * Returns the reason why a type's mapping cannot be made; undefined if it can. The text names the type, its size, and the setting that
 * reduces it.
 */
export function mappingProblem(layout: DocumentLayout): string | undefined {
  const { fields, nested, parents, depth } = countFields(rootProperties(layout));
  const advice = `copy less of its relations: pluginOptions.varve.denormalise of ${layout.type}, or --denormalise-to-one and --denormalise-to-many for all types`;
  const exceeded = [
    { count: fields, limit: FIELD_LIMIT, what: `have ${fields} fields` },
    { count: nested, limit: NESTED_LIMIT, what: `have ${nested} nested lists` },
    { count: parents, limit: PARENT_LIMIT, what: `have ${parents} nested lists with lists in them` },
    { count: depth, limit: DEPTH_LIMIT, what: `are ${depth} levels deep` },
  ].find(({ count, limit }) => count > limit);
  return exceeded && `${layout.type}: its documents ${exceeded.what} of at most ${exceeded.limit}; ${advice}`;
}

type Counts = {
  readonly fields: number;
  readonly nested: number;
  /** Nested lists that contain nested lists. */
  readonly parents: number;
  readonly depth: number;
};

function countFields(properties: Properties): Counts {
  let [fields, nested, parents, depth] = [0, 0, 0, 1];
  for (const mapping of Object.values(properties)) {
    const below =
      mapping['properties'] === undefined ? undefined : countFields(mapping['properties'] as Properties);
    fields += 1 + (below?.fields ?? 0);
    const isNested = mapping['type'] === 'nested';
    nested += (isNested ? 1 : 0) + (below?.nested ?? 0);
    parents += (isNested && (below?.nested ?? 0) > 0 ? 1 : 0) + (below?.parents ?? 0);
    depth = Math.max(depth, 1 + (below?.depth ?? 0));
  }
  return { fields, nested, parents, depth };
}
