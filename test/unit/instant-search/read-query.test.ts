import { expect, it } from 'vitest';
import { readQuery } from '../../../services/instant-search/read-query.ts';

it('repeats half of a surrogate pair as the replacement character', () => {
  const { query, params } = readQuery({ indexName: 'a', parameters: { query: 'x\ud800', page: 1 } });
  expect(query).toBe('x\ud800');
  expect(params).toBe('query=x%EF%BF%BD&page=1');
});
