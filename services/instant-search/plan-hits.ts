import type { Nearest } from '../../shared/read-index/geo-area.ts';
import type { ScalarType } from '../../shared/schema/content-type.ts';
import type { GeoColumns } from '../../shared/schema/search-geo.ts';
import { resolvePopulate } from '../query/populate.ts';
import type { Selection } from '../query/selection.ts';
import { nearestOf } from './around.ts';
import { GEO_MEMBER, geolocColumns } from './geo-boxes.ts';
import type { InstantQuery, Snippet } from './instant-query.ts';
import { attributeAt, attributeNames, type InstantContext, namedAttribute } from './named-attributes.ts';
import { type PopulatedPath, populateOption } from './populate-paths.ts';
import { searchableNames } from './searched-fields.ts';

/** Attribute whose matches are marked. */
export type MarkedAttribute = {
  readonly path: readonly string[];
  readonly type: ScalarType;
  /** Number of words of a snippet; absent for the whole value. */
  readonly snippet?: number;
};

/** Parts of a row that a hit shows. */
export type HitPlan = {
  readonly selection: Selection;
  /** Attributes of the row itself that are shown; null for all. */
  readonly shown: ReadonlySet<string> | null;
  /** Paths to related values that are not shown. */
  readonly omitted: readonly (readonly string[])[];
  /** Columns of `_geoloc`; undefined if hits have none. */
  readonly point: GeoColumns | undefined;
  /** Distances that the hits have; undefined if the query asks for none. */
  readonly nearest: Nearest | undefined;
  readonly highlights: readonly MarkedAttribute[];
  readonly snippets: readonly MarkedAttribute[];
};

const NONE: HitPlan = {
  selection: { fields: null, populate: [] },
  shown: null,
  omitted: [],
  point: undefined,
  nearest: undefined,
  highlights: [],
  snippets: [],
};
const TEXTS = new Set<ScalarType>(['string', 'text', 'richtext', 'blocks', 'uid', 'enumeration', 'email']);
const EVERYTHING = '*';

/** Plans the rows that hits show: their own attributes, and what is behind every path that the query names or a search looks at. */
export function planHits(query: InstantQuery, context: InstantContext): HitPlan {
  const { retrieved, highlighted, snippeted } = query;
  const shown = shownAttributes(retrieved, context);
  const named = [
    ...(retrieved ?? []).filter((name) => isName(name) && !isOwnMember(name, context)),
    ...query.facets.filter(isName),
  ].map((name) => ({ name, param: 'attributesToRetrieve' }));
  const marked = (highlighted ?? []).filter((name) => name !== EVERYTHING);
  const snippets = snippeted.filter(({ name }) => name !== EVERYTHING);
  for (const name of marked) namedAttribute(name, 'attributesToHighlight', context);
  for (const { name } of snippets) namedAttribute(name, 'attributesToSnippet', context);
  const isEmpty = query.window === undefined && query.hitsPerPage === 0;
  if (isEmpty || query.facet !== undefined) return NONE;
  const searched = searchableNames(context);
  const all = [...searched, ...query.facets.filter((name) => isName(name) && isText(name, context))];
  const isEvery = highlighted === undefined || highlighted.includes(EVERYTHING);
  const highlights = [...new Set([...marked, ...(isEvery ? all : [])])];
  const everySnippet = snippeted.find(({ name }) => name === EVERYTHING);
  const cut = [...snippets, ...(everySnippet === undefined ? [] : restOf(all, snippets, everySnippet.words))];
  const paths = [...searched, ...named.map(({ name }) => name), ...marked, ...cut.map(({ name }) => name)];
  const option = populateOption(paths.flatMap((name) => populatedPath(name, context)));
  const { scope, problems, model } = context;
  const rules = {
    scope,
    problems,
    param: 'attributesToRetrieve',
    world: 'published',
    publication: null,
  } as const;
  const populate = resolvePopulate(option, model, rules);
  return {
    selection: { fields: null, populate },
    shown,
    point: shown === null || shown.has(GEO_MEMBER) ? geolocColumns(model) : undefined,
    nearest: nearestOf(query, context),
    omitted: excludedNames(retrieved ?? []).flatMap((name) => {
      const path = attributeNames(name);
      return path.length > 1 ? [path] : [];
    }),
    highlights: highlights.flatMap((name) => markedAttribute({ name }, context)),
    snippets: cut.flatMap((snippet) => markedAttribute(snippet, context)),
  };
}

/** `attributesToRetrieve`: names, `*`, and names with a minus that are left out. */
function shownAttributes(
  retrieved: readonly string[] | undefined,
  context: InstantContext,
): ReadonlySet<string> | null {
  if (retrieved === undefined) return null;
  const excluded = excludedNames(retrieved);
  const included = retrieved.filter((name) => isName(name) && name !== 'objectID');
  for (const name of [...included, ...excluded])
    if (!isOwnMember(name, context)) namedAttribute(name, 'attributesToRetrieve', context);
  const isEvery = retrieved.includes(EVERYTHING) || (included.length === 0 && excluded.length > 0);
  if (isEvery && excluded.length === 0) return null;
  const names = isEvery
    ? [...context.model.attributes.keys(), GEO_MEMBER]
    : included.map((name) => attributeNames(name)[0] ?? '');
  return new Set(names.filter((name) => !excluded.includes(name)));
}

function excludedNames(retrieved: readonly string[]): readonly string[] {
  return retrieved.filter((name) => name.startsWith('-')).map((name) => name.slice(1));
}

function isName(name: string): boolean {
  return name !== EVERYTHING && !name.startsWith('-');
}

/** Returns whether a name is that of a member which each hit has in Algolia's protocol. */
function isOwnMember(name: string, { model }: InstantContext): boolean {
  return name === 'objectID' || (name === GEO_MEMBER && geolocColumns(model) !== undefined);
}

function restOf(all: readonly string[], named: readonly Snippet[], words: number): readonly Snippet[] {
  return all.filter((name) => !named.some((each) => each.name === name)).map((name) => ({ name, words }));
}

function isText(name: string, { model, scope }: InstantContext): boolean {
  const attribute = attributeAt(attributeNames(name), model, scope);
  return attribute?.kind === 'scalar' && TEXTS.has(attribute.type);
}

/** Returns the path of a name if it needs `populate`; else an empty list. */
function populatedPath(name: string, { model, scope }: InstantContext): readonly PopulatedPath[] {
  const path = attributeNames(name);
  const attribute = attributeAt(path, model, scope);
  if (attribute === undefined) return [];
  const isLink = attribute.kind !== 'scalar';
  return path.length > 1 || isLink ? [{ path, isLink }] : [];
}

function markedAttribute(
  { name, words }: { readonly name: string; readonly words?: number },
  { model, scope }: InstantContext,
): readonly MarkedAttribute[] {
  const path = attributeNames(name);
  const attribute = attributeAt(path, model, scope);
  if (attribute?.kind !== 'scalar') return [];
  const { type } = attribute;
  return [words === undefined ? { path, type } : { path, type, snippet: words }];
}
