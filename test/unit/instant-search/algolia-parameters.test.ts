import { describe, expect, it } from 'vitest';
import { ALGOLIA_PARAMETERS, algoliaParameter } from '../../../services/instant-search/algolia-parameters.ts';
import { type RawParameters, readQuery } from '../../../services/instant-search/read-query.ts';

type Name = keyof typeof ALGOLIA_PARAMETERS;
type Honoured = { [N in Name]: (typeof ALGOLIA_PARAMETERS)[N]['use'] extends 'honoured' ? N : never }[Name];

/** A value of each honoured parameter that is not its default, and the parameters that it needs. */
const SAMPLES: { readonly [N in Honoured]: readonly [value: unknown, others?: RawParameters] } = {
  query: ['bread'],
  queryType: ['prefixNone'],
  typoTolerance: [false],
  restrictSearchableAttributes: [['name']],
  filters: ['stars > 1'],
  facetFilters: [['name:a']],
  numericFilters: [['stars > 1']],
  insideBoundingBox: [[[1, 2, 3, 4]]],
  aroundLatLng: ['1,2'],
  aroundRadius: [100, { aroundLatLng: '1,2' }],
  aroundPrecision: [100, { aroundLatLng: '1,2' }],
  facets: [['name']],
  maxValuesPerFacet: [3],
  sortFacetValuesBy: ['alpha'],
  type: ['facet', { facet: 'name' }],
  facet: ['name', { type: 'facet', facet: 'other' }],
  facetQuery: ['a', { type: 'facet', facet: 'name' }],
  maxFacetHits: [3, { type: 'facet', facet: 'name' }],
  page: [2],
  hitsPerPage: [3],
  offset: [2],
  length: [3],
  attributesToRetrieve: [['name']],
  attributesToHighlight: [['name']],
  attributesToSnippet: [['name:3']],
  highlightPreTag: ['<b>'],
  highlightPostTag: ['</b>'],
  snippetEllipsisText: ['...'],
  responseFields: [['hits']],
  distinct: [2],
  enableRules: [false],
  getRankingInfo: [true],
  analytics: [false],
  clickAnalytics: [true],
};

/** Values of a parameter that asks for something, and of one that is switched off. */
const ON = ['x', true, 1];
const OFF = [null, false, ''];

function readWith(parameters: RawParameters) {
  const { params: _params, ...query } = readQuery({ indexName: 'restaurants', parameters });
  return query;
}

describe.each(Object.keys(ALGOLIA_PARAMETERS) as Name[])('%s', (name) => {
  const { use, note = '' } = algoliaParameter(name) ?? {};
  it(`is ${use}`, () => {
    if (use === 'honoured') {
      const [value, others = {}] = SAMPLES[name as Honoured];
      expect(readWith({ ...others, [name]: value })).not.toEqual(readWith(others));
    } else if (use === 'ignored') {
      for (const value of ON)
        expect(readWith({ [name]: value })).toEqual({ ...readWith({}), ignored: [name] });
    } else {
      for (const value of ON)
        expect(() => readWith({ [name]: value })).toThrow(
          `The parameter '${name}' is not supported: ${note}`,
        );
      for (const value of OFF) expect(readWith({ [name]: value })).toEqual(readWith({}));
    }
  });
});

it('refuses what Algolia does not have', () => {
  expect(() => readWith({ fliters: 'stars > 1' })).toThrow("Unknown parameter 'fliters'");
  expect(() => readWith({ constructor: 1 })).toThrow("Unknown parameter 'constructor'");
});
