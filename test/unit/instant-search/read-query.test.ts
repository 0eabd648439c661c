import { expect, it } from 'vitest';
import { readQuery } from '../../../services/instant-search/read-query.ts';
import { RequestError } from '../../../shared/request-error.ts';

it('repeats half of a surrogate pair as the replacement character', () => {
  const { query, params } = readQuery({ indexName: 'a', parameters: { query: 'x\ud800', page: 1 } });
  expect(query).toBe('x\ud800');
  expect(params).toBe('query=x%EF%BF%BD&page=1');
});

it.each(['facetFilters', 'numericFilters', 'facets'])('refuses %s that nest too deep, as text', (name) => {
  const value = '['.repeat(100_000) + ']'.repeat(100_000);
  expect(() => readQuery({ indexName: 'a', parameters: { [name]: value } })).toThrow(RequestError);
});
