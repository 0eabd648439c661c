import { entryOfSource } from './entry-of-source.ts';
import type { ReadIndex, SearchRequest } from './read-index.ts';

type FirstRowSearch = Pick<SearchRequest, 'type' | 'world' | 'query'> & Partial<SearchRequest>;

/** Returns the values of the first row that a search finds; undefined if it finds none. */
export async function firstRow<Row = unknown>(
  index: Pick<ReadIndex, 'search'>,
  search: FirstRowSearch,
): Promise<Row | undefined> {
  const { hits } = await index.search({ sort: [], from: 0, size: 1, withTotal: false, ...search });
  const [source] = hits.sources;
  return source === undefined ? undefined : entryOfSource<Row>(source);
}
