import { expect, it } from 'vitest';
import { countedFacets } from '../../../services/instant-search/counted-facets.ts';
import { readQuery } from '../../../services/instant-search/read-query.ts';
import { queryModelOf } from '../../../services/query/query-model.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import { contentTypeOf } from '../../../shared/schema/schema-registry.ts';

const UID = 'api::thing.thing';

function registryWith(booleans: number) {
  const flags = Array.from({ length: booleans }, (_, n) => [`flag${n}`, { type: 'boolean' }] as const);
  const { registry, problems } = buildRegistry([
    {
      model: 'contentType',
      file: 'thing.json',
      namespace: 'api::thing',
      json: {
        kind: 'collectionType',
        info: { singularName: 'thing', pluralName: 'things', displayName: 'Thing' },
        attributes: Object.fromEntries([...flags, ['name', { type: 'string' }]]),
      },
    },
  ]);
  expect(problems).toEqual([]);
  return registry;
}

it('counts the facets that a query names, also with more than can be counted', () => {
  const registry = registryWith(30);
  const query = readQuery({ indexName: 'things', parameters: { facets: ['*', 'name'] } });
  const scope = { registry, mayReadDrafts: false };
  const type = contentTypeOf(registry, UID);
  const counted = countedFacets(query, { type, model: queryModelOf(registry, UID), scope, problems: [] });
  expect(Object.keys(counted)).toHaveLength(20);
  expect(counted).toHaveProperty('name');
});

it.each([
  [
    { facets: ['name'], maxValuesPerFacet: 7 },
    { limit: '7', order: 'count' },
  ],
  [
    { facets: ['name'], maxValuesPerFacet: 7, sortFacetValuesBy: 'alpha' },
    { limit: '7', order: 'name' },
  ],
  [
    { type: 'facet', facet: 'name', facetQuery: 'a', maxFacetHits: 3, sortFacetValuesBy: 'alpha' },
    { limit: '3', search: 'a', order: 'name' },
  ],
])('counts the first values in the order that %j names', (parameters, expected) => {
  const registry = registryWith(1);
  const query = readQuery({ indexName: 'things', parameters });
  const scope = { registry, mayReadDrafts: false };
  const type = contentTypeOf(registry, UID);
  const context = { type, model: queryModelOf(registry, UID), scope, problems: [] };
  expect(countedFacets(query, context)).toEqual({ name: expected });
});
