import { RequestError } from '../../shared/request-error.ts';

/** Parameters that a query may have. */
const SUPPORTED = [
  'query',
  'page',
  'hitsPerPage',
  'filters',
  'facetFilters',
  'numericFilters',
  'facets',
  'maxValuesPerFacet',
  'type',
  'facet',
  'facetQuery',
  'maxFacetHits',
  'highlightPreTag',
  'highlightPostTag',
  'attributesToRetrieve',
  'attributesToHighlight',
  'attributesToSnippet',
  'restrictSearchableAttributes',
  'typoTolerance',
  'queryType',
  'offset',
  'length',
  'snippetEllipsisText',
  'responseFields',
  'sortFacetValuesBy',
];

/** Parameters that only rank, log, describe the sender, or ask for help that Varve's search has for every query. */
const IGNORED = [
  'analytics',
  'analyticsTags',
  'clickAnalytics',
  'userToken',
  'ruleContexts',
  'enableRules',
  'enableABTest',
  'enablePersonalization',
  'personalizationImpact',
  'enableReRanking',
  'relevancyStrictness',
  'optionalFilters',
  'sumOrFiltersScores',
  'percentileComputation',
  'getRankingInfo',
  'removeWordsIfNoResults',
  'removeStopWords',
  'ignorePlurals',
  'queryLanguages',
  'naturalLanguages',
  'decompoundQuery',
  'synonyms',
  'replaceSynonymsInHighlight',
  'restrictHighlightAndSnippetArrays',
  'exactOnSingleWordQuery',
  'alternativesAsExact',
  'attributeCriteriaComputedByMinProximity',
  'minProximity',
  'minWordSizefor1Typo',
  'minWordSizefor2Typos',
  'allowTyposOnNumericTokens',
  'disableExactOnAttributes',
  'keepDiacriticsOnCharacters',
];

const GEO = 'Varve has no search by place: filter by numbers such as latitude and longitude';
const INSIGHTS = 'Varve records no events of users: set insights to false';
const RECOMMEND = 'Varve recommends nothing';
const SETTING = 'it is a setting of an index, and Varve reads settings from the schema of the content type';
const SYNTAX = 'Varve has no operators in a query';
const MEANING = 'Varve searches words, not meanings';
const DISTINCT = 'Varve does not group hits: each hit is one document';

const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    aroundLatLng: GEO,
    aroundLatLngViaIP: GEO,
    aroundRadius: GEO,
    aroundPrecision: GEO,
    minimumAroundRadius: GEO,
    insideBoundingBox: GEO,
    insidePolygon: GEO,
    distinct: DISTINCT,
    attributeForDistinct: DISTINCT,
    facetingAfterDistinct: DISTINCT,
    insights: INSIGHTS,
    events: INSIGHTS,
    model: RECOMMEND,
    threshold: RECOMMEND,
    tagFilters: 'Varve has no tags: filter by an attribute',
    optionalWords: 'All words of a short query count alike',
    advancedSyntax: SYNTAX,
    advancedSyntaxFeatures: SYNTAX,
    similarQuery: MEANING,
    mode: MEANING,
    semanticSearch: MEANING,
    disableTypoToleranceOnAttributes: 'the option typoTolerance of an attribute does that',
    disablePrefixOnAttributes: 'the option as of an attribute does that',
    ranking: SETTING,
    customRanking: SETTING,
    searchableAttributes: SETTING,
    attributesForFaceting: SETTING,
    unretrievableAttributes: SETTING,
    replicas: SETTING,
    separatorsToIndex: SETTING,
    camelCaseAttributes: SETTING,
    indexLanguages: SETTING,
    userData: SETTING,
    renderingContent: SETTING,
  }),
);

/** Refuses every parameter that would have to change the answer and does not. Throws RequestError. */
export function refuseUnsupported(parameters: { readonly [name: string]: unknown }): void {
  for (const [name, value] of Object.entries(parameters)) {
    if (SUPPORTED.includes(name) || IGNORED.includes(name)) continue;
    const reason = REASONS.get(name);
    if (reason !== undefined && asksForNothing(value)) continue;
    throw new RequestError(
      'not-supported',
      reason === undefined
        ? `Unknown parameter '${name}'`
        : `The parameter '${name}' is not supported: ${reason}`,
      { param: name, found: name, accepted: SUPPORTED },
    );
  }
}

/** Refuses parameters of a query in a URL, where Algolia's clients send those of the connection. Throws RequestError. */
export function refuseInUrl(names: Iterable<string>): void {
  for (const name of names) {
    if (!SUPPORTED.includes(name) && !REASONS.has(name)) continue;
    throw new RequestError('not-supported', `The parameter '${name}' belongs in the body`, {
      param: name,
      found: name,
      accepted: 'parameters of a query in the body, as JSON',
    });
  }
}

/** Clients also send parameters that they have switched off. */
function asksForNothing(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    value === false ||
    value === 'false' ||
    value === 'keywordSearch'
  );
}

/** Refuses what Algolia's other services are asked. */
export function refuseService(service: 'recommend' | 'insights'): never {
  throw new RequestError('not-supported', service === 'recommend' ? RECOMMEND : INSIGHTS, {
    accepted: ['/1/indexes/*/queries', '/1/indexes/:name/query', '/1/indexes/:name/facets/:facet/query'],
  });
}
