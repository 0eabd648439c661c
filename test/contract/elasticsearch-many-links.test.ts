import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  DEFAULT_DENORMALISE,
  MOST_COPIES,
} from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import type { SearchRequest } from '../../shared/read-index/read-index.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { createTestIndices, type TestIndex, type TestIndices } from '../support/elasticsearch-index.ts';
import { BOOK, libraryRegistry, row, TAG } from './read-index-library.ts';
import { link, not, some, term } from './read-index-shelf.ts';

/** Searches of rows with more links than documents copy. The contract suite also runs with at most one copy. */
const registry = libraryRegistry();
const TAGS = Array.from({ length: MOST_COPIES + 1 }, (_, at) => at + 1);
const [few, most, many] = [1, 2, 3];

describe('rows with many links on Elasticsearch', await needsElasticsearch(), () => {
  let indices: TestIndices;
  let index: TestIndex;
  let position = 0n;

  const book = (key: number) =>
    ({
      type: BOOK,
      version: 'published',
      key,
      row: row(registry, BOOK, { id: key, title: `b${key}` }),
    }) as const;
  const tag = (key: number) =>
    ({
      type: TAG,
      version: 'live',
      key,
      row: row(registry, TAG, { id: key, name: `t${key}` }),
    }) as const;
  const linkAll = (key: number, tags: readonly number[]) =>
    tags.map((each, at) => link(BOOK, 'tags', key, each, { order: [at, key] }));

  beforeAll(async () => {
    indices = await createTestIndices(registry, DEFAULT_DENORMALISE);
    index = await indices.open();
  }, 180_000);
  afterAll(() => indices?.remove());

  async function search(query: SearchRequest['query']) {
    const request: SearchRequest = {
      ...{ type: BOOK, world: 'published', query, sort: [], from: 0, size: 25, withTotal: true },
      answer: {},
    };
    const { hits } = await index.search(request);
    const ids = hits.sources.map((each) => JSON.parse(Buffer.from(each).toString()).id as number);
    const { requests } = await index.reader.explain(request);
    return { ids: ids.sort(), requests: requests.map((searches) => searches.length) };
  }
  const tagged = (name: string) => some('tags', term('name', name));

  it('find rows by their copies in one request, while no row has too many links', async () => {
    const rows = [...TAGS.map(tag), book(few), book(most)];
    const links = [...linkAll(few, [1]), ...linkAll(most, TAGS.slice(0, MOST_COPIES))];
    await index.apply({ position: ++position, rows, links });
    // The second search looks for rows with too many links.
    expect(await search(tagged('t1'))).toEqual({ ids: [few, most], requests: [2] });
    expect(await search(not(tagged('t2')))).toEqual({ ids: [few], requests: [2] });
  }, 180_000);

  it('find rows with too many links by a semi-join, and know from then on that there are such rows', async () => {
    await index.apply({ position: ++position, rows: [book(many)], links: linkAll(many, TAGS) });
    const last = `t${MOST_COPIES + 1}`;
    expect(await search(tagged('t1'))).toEqual({ ids: [few, most, many], requests: [2, 1, 1] });
    expect(await search(tagged(last))).toEqual({ ids: [many], requests: [1, 1] });
    expect((await search(not(tagged('t2')))).ids).toEqual([few]);
    expect((await search(some('tags', { kind: 'match_all' }))).ids).toEqual([few, most, many]);
    const facets = [{ path: ['tags'], field: 'name', type: 'string', limit: 2 }] as const;
    const asked = { type: BOOK, world: 'published', query: { kind: 'match_all' }, sort: [], facets } as const;
    const { facets: counted } = await index.search({ ...asked, from: 0, size: 0, withTotal: false });
    expect(counted?.[0]?.values).toEqual([
      { value: 't1', count: 3 },
      { value: 't10', count: 2 },
    ]);
  }, 180_000);
});
