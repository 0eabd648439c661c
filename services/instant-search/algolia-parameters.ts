/**
 * Varve's answer to a parameter of a search. `honoured`: it does what Algolia documents. `ignored`: it only ranks, tunes, logs, or asks for
 * help that every search has, so the same entries are found. `refused`: it would change which entries are found, or what a hit has.
 */
type AlgoliaParameter = { readonly use: 'honoured' | 'ignored' | 'refused'; readonly note: string };

const FILTERS = 'restricts the hits';
const TEXTS = 'highlights and snippets';
const PAGING = 'which hits the answer has';
const VALUES = 'counts of values';
const LOGS = 'it only logs or names the sender';
const RANKS = 'it only ranks';
const TUNES = 'it fine-tunes typos, proximity or exactness';
const ALWAYS = 'every search does this for the language of its locale';
const INSIGHTS =
  'Varve counts no events: start it with --search-log-days to count clicks, or set insights to false';
const RECOMMEND = 'Varve recommends nothing';
const SETTING = 'it is a setting of an index, and Varve reads settings from the schema of the content type';
const SYNTAX = 'Varve has no operators in a query';
const MEANING = 'Varve searches words, not meanings';

/** Every search parameter of Algolia, and settings of an index that clients send as parameters. */
export const ALGOLIA_PARAMETERS = {
  query: honoured('the words'),
  queryType: honoured('whether the last word is a prefix; `prefixAll` is as `prefixLast`'),
  typoTolerance: honoured('true or false; `min` and `strict` are as true'),
  restrictSearchableAttributes: honoured('the attributes that are searched'),
  filters: honoured(FILTERS),
  facetFilters: honoured(FILTERS),
  numericFilters: honoured(FILTERS),
  insideBoundingBox: honoured('hits in one of the boxes, by the place that the content type names'),
  aroundLatLng: honoured(
    'hits with a place, with the nearest first. It does not order hits of words, or of an index with an order in its name: there it needs `aroundRadius`',
  ),
  aroundRadius: honoured(
    'the largest distance from `aroundLatLng` in metres, or `all`. Without it, all: Varve computes no radius',
  ),
  aroundPrecision: honoured(
    'the metres within which distances are equal: a number, at least 10, which is the default',
  ),
  facets: honoured(VALUES),
  maxValuesPerFacet: honoured(VALUES),
  sortFacetValuesBy: honoured(VALUES),
  type: honoured('a search for values of a facet among other queries'),
  facet: honoured('the facet of such a search'),
  facetQuery: honoured('the text of such a search'),
  maxFacetHits: honoured('the number of values of such a search'),
  page: honoured(PAGING),
  hitsPerPage: honoured(PAGING),
  offset: honoured(PAGING),
  length: honoured(PAGING),
  attributesToRetrieve: honoured('the attributes of a hit'),
  attributesToHighlight: honoured(TEXTS),
  attributesToSnippet: honoured(TEXTS),
  highlightPreTag: honoured(TEXTS),
  highlightPostTag: honoured(TEXTS),
  snippetEllipsisText: honoured(TEXTS),
  responseFields: honoured('the members of the answer'),
  distinct: honoured('how many hits have the same value of the attribute `distinct` of the content type'),
  enableRules: honoured('whether the rules for some searches count'),
  getRankingInfo: honoured(
    '`_rankingInfo` of each hit; a request that would compare more than 1,000,000 words is a 400',
  ),
  analytics: honoured('false: the search is not counted, if the server counts searches'),
  analyticsTags: ignored(LOGS),
  clickAnalytics: honoured('`queryID` of the answer, if the server counts searches'),
  userToken: ignored(LOGS),
  percentileComputation: ignored(LOGS),
  ruleContexts: ignored('rules have no contexts: each counts in every search'),
  enableABTest: ignored(RANKS),
  enablePersonalization: ignored(RANKS),
  personalizationImpact: ignored(RANKS),
  enableReRanking: ignored(RANKS),
  reRankingApplyFilter: ignored(RANKS),
  relevancyStrictness: ignored(RANKS),
  optionalFilters: ignored(RANKS),
  sumOrFiltersScores: ignored(RANKS),
  minimumAroundRadius: ignored('Varve computes no radius'),
  attributeCriteriaComputedByMinProximity: ignored(RANKS),
  minProximity: ignored(TUNES),
  minWordSizefor1Typo: ignored(TUNES),
  minWordSizefor2Typos: ignored(TUNES),
  allowTyposOnNumericTokens: ignored(TUNES),
  exactOnSingleWordQuery: ignored(TUNES),
  disableExactOnAttributes: ignored(TUNES),
  alternativesAsExact: ignored(TUNES),
  keepDiacriticsOnCharacters: ignored(TUNES),
  removeWordsIfNoResults: ignored(ALWAYS),
  removeStopWords: ignored(ALWAYS),
  ignorePlurals: ignored(ALWAYS),
  queryLanguages: ignored(ALWAYS),
  naturalLanguages: ignored(ALWAYS),
  decompoundQuery: ignored(ALWAYS),
  synonyms: ignored('synonyms are always found'),
  replaceSynonymsInHighlight: ignored('highlights mark the words of the text'),
  restrictHighlightAndSnippetArrays: ignored('highlights have only texts with a match'),
  aroundLatLngViaIP: refused('Varve does not know where callers are: give aroundLatLng'),
  insidePolygon: refused('Varve has boxes: insideBoundingBox'),
  attributeForDistinct: refused('the option distinct of the content type does that'),
  facetingAfterDistinct: refused('facets count all entries'),
  insights: refused(INSIGHTS),
  events: refused(INSIGHTS),
  model: refused(RECOMMEND),
  threshold: refused(RECOMMEND),
  tagFilters: refused('Varve has no tags: filter by an attribute'),
  optionalWords: refused('All words of a short query count alike'),
  advancedSyntax: refused(SYNTAX),
  advancedSyntaxFeatures: refused(SYNTAX),
  similarQuery: refused(MEANING),
  mode: refused(MEANING),
  semanticSearch: refused(MEANING),
  disableTypoToleranceOnAttributes: refused('the option typoTolerance of an attribute does that'),
  disablePrefixOnAttributes: refused('the option as of an attribute does that'),
  ranking: refused(SETTING),
  customRanking: refused(SETTING),
  searchableAttributes: refused(SETTING),
  attributesForFaceting: refused(SETTING),
  unretrievableAttributes: refused(SETTING),
  replicas: refused(SETTING),
  separatorsToIndex: refused(SETTING),
  camelCaseAttributes: refused(SETTING),
  indexLanguages: refused(SETTING),
  userData: refused(SETTING),
  renderingContent: refused(SETTING),
} as const satisfies { readonly [name: string]: AlgoliaParameter };

/** Returns what Varve does with a parameter; undefined if Algolia has none of this name. */
export function algoliaParameter(name: string): AlgoliaParameter | undefined {
  return Object.hasOwn(ALGOLIA_PARAMETERS, name)
    ? ALGOLIA_PARAMETERS[name as keyof typeof ALGOLIA_PARAMETERS]
    : undefined;
}

/** Why Varve does not answer what Algolia's other services are asked. */
export const NO_SERVICE = { recommend: RECOMMEND, insights: INSIGHTS } as const;

function honoured(note: string) {
  return { use: 'honoured', note } as const;
}

function ignored(note: string) {
  return { use: 'ignored', note } as const;
}

function refused(note: string) {
  return { use: 'refused', note } as const;
}
