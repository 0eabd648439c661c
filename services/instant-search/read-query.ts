import { defined } from '../../shared/defined.ts';
import { RequestError } from '../../shared/request-error.ts';
import { LEAST_PRECISION, readCenter, readPrecision, readRadius } from './around.ts';
import { readBoxes } from './geo-boxes.ts';
import { conditionBudget, type InstantFilter } from './instant-filter.ts';
import type { FacetQuery, InstantQuery, Snippet } from './instant-query.ts';
import {
  type RawParameter,
  readFlag,
  readList,
  readNames,
  readText,
  readWhole,
  refuseParameter,
} from './parameter-readers.ts';
import { parseFacetFilters, parseNumericFilters } from './parse-filter-lists.ts';
import { parseFilters } from './parse-filters.ts';
import { refuseUnsupported } from './supported-parameters.ts';

/** Unparsed query: its index, and its parameters by name. */
export type RawQuery = { readonly indexName: string; readonly parameters: RawParameters };
export type RawParameters = { readonly [name: string]: unknown };

/** Longer ones are cut, as Algolia does. */
const MAX_QUERY = 512;
const MAX_FACET_QUERY = 100;
const MAX_HITS = 1_000;
const MAX_VALUES = 1_000;
const MAX_FACET_HITS = 100;
const MAX_NAMES = 100;
const MAX_FACETS = 20;
const MAX_SNIPPETS = 20;
const MAX_TAG = 100;
const MAX_DISTINCT = 10;
const MAX_PAGE = 1_000_000_000;
const SNIPPET_WORDS = { absent: 10, most: 200 };

/** Reads the parameters of a query. Throws RequestError for those that are malformed, unknown or not supported. */
export function readQuery({ indexName, parameters }: RawQuery): InstantQuery {
  const ignored = refuseUnsupported(parameters);
  const when: ReadWhen = (param, read) => {
    const value = parameters[param] ?? undefined;
    return value === undefined ? undefined : read({ param, value });
  };
  const whole = (param: string, min: number, max: number) =>
    when(param, (given) => readWhole(given, { min, max }));
  const names = (param: string) => when(param, (given) => readNames(given, MAX_NAMES));
  const tag = (param: string) =>
    when(param, (given) => {
      const text = readText(given);
      return text.length > MAX_TAG ? refuseParameter(given, `at most ${MAX_TAG} characters`) : text;
    });
  return {
    indexName,
    query: (when('query', readText) ?? '').slice(0, MAX_QUERY),
    hasPrefix: when('queryType', readQueryType) !== 'prefixNone',
    page: whole('page', 0, MAX_PAGE) ?? 0,
    hitsPerPage: whole('hitsPerPage', 0, MAX_HITS) ?? 20,
    filter: readFilters(when),
    facets: when('facets', (given) => readNames(given, MAX_FACETS)) ?? [],
    maxValuesPerFacet: whole('maxValuesPerFacet', 1, MAX_VALUES) ?? 100,
    tags: { before: tag('highlightPreTag') ?? '<em>', after: tag('highlightPostTag') ?? '</em>' },
    snippeted: when('attributesToSnippet', readSnippets) ?? [],
    ellipsis: tag('snippetEllipsisText') ?? '…',
    sortFacetsBy: when('sortFacetValuesBy', readFacetOrder) ?? 'count',
    typoTolerance: when('typoTolerance', readTypoTolerance) ?? true,
    withRules: when('enableRules', readFlag) ?? true,
    withRankingInfo: when('getRankingInfo', readFlag) ?? false,
    distinct: when('distinct', readDistinct) ?? 0,
    params: queryStringOf(parameters),
    ignored,
    ...readAreas(when),
    ...readCounting(when),
    ...defined({
      retrieved: names('attributesToRetrieve'),
      highlighted: names('attributesToHighlight'),
      searched: names('restrictSearchableAttributes'),
      members: names('responseFields'),
      window: readWindow(whole('offset', 0, MAX_PAGE), whole('length', 1, MAX_HITS)),
      facet: readFacetQuery(when('type', readText), when('facet', readText), {
        text: when('facetQuery', readText) ?? '',
        limit: whole('maxFacetHits', 1, MAX_FACET_HITS) ?? 10,
      }),
    }),
  };
}

/** Reads a parameter if the query has it. */
type ReadWhen = <Value>(param: string, read: (given: RawParameter) => Value) => Value | undefined;

/** Algolia's other values allow typos too, only in fewer entries. */
function readTypoTolerance(given: RawParameter): boolean {
  return given.value === 'min' || given.value === 'strict' || readFlag(given);
}

function readDistinct(given: RawParameter): number {
  const { value } = given;
  if (typeof value === 'boolean' || value === 'true' || value === 'false') return Number(readFlag(given));
  return readWhole(given, { min: 0, max: MAX_DISTINCT });
}

const QUERY_TYPES = ['prefixLast', 'prefixAll', 'prefixNone'] as const;
type QueryType = (typeof QUERY_TYPES)[number];

function readQueryType(given: RawParameter): QueryType {
  return QUERY_TYPES.find((type) => type === given.value) ?? refuseParameter(given, QUERY_TYPES.join(', '));
}

function readFacetOrder(given: RawParameter): InstantQuery['sortFacetsBy'] {
  const { value } = given;
  return value === 'count' || value === 'alpha' ? value : refuseParameter(given, 'count or alpha');
}

function readWindow(offset: number | undefined, length: number | undefined): InstantQuery['window'] {
  return offset === undefined && length === undefined
    ? undefined
    : { offset: offset ?? 0, length: length ?? 20 };
}

/** Reads the boxes and the center of a search by place. Algolia ignores the center next to boxes. */
function readAreas(when: ReadWhen): Pick<InstantQuery, 'boxes' | 'around'> {
  const boxes = when('insideBoundingBox', readBoxes);
  const from = when('aroundLatLng', readCenter);
  const meters = when('aroundRadius', readRadius);
  const step = when('aroundPrecision', readPrecision) ?? LEAST_PRECISION;
  if (boxes !== undefined) return { boxes };
  return from === undefined ? {} : { around: { from, step, ...defined({ meters }) } };
}

function readCounting(when: ReadWhen): Pick<InstantQuery, 'isCounted' | 'withQueryId'> {
  return {
    isCounted: when('analytics', readFlag) ?? true,
    withQueryId: when('clickAnalytics', readFlag) ?? false,
  };
}

function readFilters(when: ReadWhen): InstantFilter {
  const budget = conditionBudget();
  const members = [
    when('filters', (given) => {
      const text = readText(given);
      return text.trim() === '' ? undefined : parseFilters(text, budget);
    }),
    when('facetFilters', (given) => parseFacetFilters(readList(given), budget)),
    when('numericFilters', (given) => parseNumericFilters(readList(given), budget)),
  ];
  return { kind: 'and', members: members.filter((member) => member !== undefined) };
}

function readFacetQuery(
  type: string | undefined,
  name: string | undefined,
  { text, limit }: Omit<FacetQuery, 'name'>,
): FacetQuery | undefined {
  if (type === undefined || type === 'default') return undefined;
  if (type !== 'facet') return refuseParameter({ param: 'type', value: type }, 'default or facet');
  if (name === undefined)
    throw new RequestError('invalid-query', "A query with type 'facet' needs the parameter 'facet'", {
      param: 'facet',
      accepted: 'the name of an attribute',
    });
  return { name, text: text.slice(0, MAX_FACET_QUERY), limit };
}

/** `name` or `name:words`. */
function readSnippets(given: RawParameter): readonly Snippet[] {
  return readNames(given, MAX_SNIPPETS).map((text) => {
    const colon = text.indexOf(':');
    if (colon === -1) return { name: text, words: SNIPPET_WORDS.absent };
    const words = readWhole(
      { param: given.param, value: text.slice(colon + 1) },
      { min: 1, max: SNIPPET_WORDS.most },
    );
    return { name: text.slice(0, colon), words };
  });
}

function queryStringOf(parameters: RawParameters): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      // JSON may have half of a surrogate pair, which no URL can say.
      return `${encodeURIComponent(name)}=${encodeURIComponent(text.toWellFormed())}`;
    })
    .join('&');
}
