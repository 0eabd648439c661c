import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SearchRequest } from '../../shared/read-index/read-index.ts';
import type { TextSearch } from '../../shared/read-index/text-search.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { createTestIndices, type TestIndex, type TestIndices } from '../support/elasticsearch-index.ts';
import { AUTHOR, BOOK, libraryRegistry, row } from './read-index-library.ts';
import { link } from './read-index-shelf.ts';

const registry = libraryRegistry();
const TITLES = ['heat layer', 'layer of heat', 'boundary layers', 'theory of heaters', 'bounded boundary'];

describe('searches by words on Elasticsearch', await needsElasticsearch(), () => {
  let indices: TestIndices;
  let index: TestIndex;

  const book = (key: number, title: string | null) => ({
    ...({ type: BOOK, version: 'published', key } as const),
    row: title === null ? null : row(registry, BOOK, { id: key, title, genre: 'poem', pages: key }),
  });

  beforeAll(async () => {
    indices = await createTestIndices(registry);
    index = await indices.open();
    const ann = {
      type: AUTHOR,
      version: 'published',
      key: 1,
      row: row(registry, AUTHOR, { id: 1, name: 'Ann' }),
    } as const;
    const rows = [ann, ...TITLES.map((title, at) => book(at + 1, title))];
    await index.apply({ position: 1n, rows, links: TITLES.map((_, at) => link(BOOK, 'author', at + 1, 1)) });
  }, 180_000);
  afterAll(() => indices?.remove());

  const request = (query: string, more: Partial<SearchRequest> = {}): SearchRequest => {
    const text: TextSearch = { query, locales: ['en'], typoTolerance: true, isRanked: true };
    return {
      ...{ type: BOOK, world: 'published', query: { kind: 'match_all' }, sort: [], text },
      ...{ from: 0, size: 25, withTotal: true },
      ...more,
    };
  };
  const search = async (...requests: readonly SearchRequest[]) => {
    const answer = {};
    const asked = requests.map((each) => ({ ...each, answer }));
    const results = await index.searchMany(asked);
    const [first = request('')] = asked;
    const { requests: sent } = await index.reader.explain(first);
    const ids = results.map(({ hits }) =>
      hits.sources.map((each) => JSON.parse(Buffer.from(each).toString()).id),
    );
    return { ids, results, sent };
  };
  const FACETS = [
    { path: [], field: 'genre', type: 'enumeration', limit: 10 },
    { path: [], field: 'pages', type: 'integer', limit: 10 },
    { path: ['author'], field: 'name', type: 'string', limit: 10 },
  ] as const;

  it('take two requests, one for the words and one for the rest', async () => {
    const found = await search(request('heat lay'));
    expect(found.ids).toEqual([[1, 2]]);
    expect(found.sent).toHaveLength(2);
    const typo = await search(request('boundray la', { facets: FACETS }));
    expect(typo.ids).toEqual([[3]]);
    expect(typo.results[0]?.text?.corrected).toEqual(new Map([['boundray', 'boundary']]));
    expect(typo.results[0]?.facets?.[2]?.values).toEqual([{ value: 'Ann', count: 1 }]);
    // The correction is a word of the best rows, which are known only then.
    expect(typo.sent).toHaveLength(3);
  });

  it('count all facets by one search', async () => {
    const counting = async (facets: SearchRequest['facets']) =>
      (await search(request('heat', facets && { facets }))).sent.flat().length;
    const [none, one, three] = [
      await counting(undefined),
      await counting([FACETS[0]]),
      await counting(FACETS),
    ];
    expect(one).toBe(none + 1);
    expect(three).toBe(one);
  });

  it('read no entries to count groups, and all tiers at once to group them', async () => {
    const groups = { field: 'genre', limit: 1 };
    const none = await search(request('heat', { groups, size: 0 }));
    expect(none.results).toMatchObject([{ total: 1, groups: [] }]);
    expect(none.sent.flat().filter(({ body }) => body.size > 0)).toEqual([]);
    const keys = [{ path: [], field: 'pages', direction: 'desc-null-last' }] as const;
    const placed = { boosts: [], pinned: [], keys, keysBefore: 'exact' } as const;
    const text = { query: 'heat lay', locales: ['en'], typoTolerance: true, isRanked: true, placed } as const;
    const some = await search(request('', { groups, text }));
    expect(some.ids).toEqual([[1]]);
    // One for the words, one for the number of entries, one for all of them and one for the page.
    expect(some.sent).toHaveLength(4);
  });

  it('share two requests, and look up common words once', async () => {
    const filtered = request('heat lay', {
      query: { kind: 'term', field: 'pages', value: 2 },
      facets: FACETS,
    });
    const found = await search(request('heat lay', { facets: FACETS }), filtered, { ...filtered, size: 0 });
    expect(found.ids).toEqual([[1, 2], [2], []]);
    expect(found.results.map(({ total }) => total)).toEqual([2, 1, 1]);
    expect(found.sent).toHaveLength(2);
    const alone = await search(request('heat lay'));
    // Equal searches of a request are sent once.
    const distinct = new Set(found.sent[0]?.map((each) => JSON.stringify(each)));
    expect(distinct.size).toBe(alone.sent[0]?.length);
  });

  it('are repeated if documents no longer have the words, or none has them all', async () => {
    await index.apply({ position: 2n, rows: [book(9, 'quixotic player')], links: [] });
    expect((await search(request('quixotic player'))).ids).toEqual([[9]]);
    await index.apply({ position: 3n, rows: [book(9, null)], links: [] });
    const gone = await search(request('player'));
    // The most similar word of a document is two typos away.
    expect(gone.results[0]?.text?.corrected).toEqual(new Map([['player', 'layer']]));
    expect(gone.ids[0]?.toSorted()).toEqual([1, 2, 3]);
    const shorter = await search(request('theory boundary '));
    expect(shorter.ids).toEqual([[4]]);
    expect(shorter.sent.length).toBeGreaterThan(2);
  });
});
