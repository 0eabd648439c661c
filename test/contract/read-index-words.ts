import { expect, it } from 'vitest';
import type { FacetRequest } from '../../shared/read-index/facets.ts';
import type { SearchRequest, SearchResult } from '../../shared/read-index/read-index.ts';
import type { TextSearch } from '../../shared/read-index/text-search.ts';
import { AUTHOR, BOOK, decode, PAGE, TAG, TOWN } from './read-index-library.ts';
import { by, link, MATCH_ALL, type OpenIndex, openShelf, type Shelf, term } from './read-index-shelf.ts';

type Asked = Partial<Omit<SearchRequest, 'text'>> & { readonly text?: Partial<TextSearch> };

function search(shelf: Shelf, query: string, { text, ...asked }: Asked = {}): Promise<SearchResult> {
  return shelf.index.search({
    ...{ type: BOOK, world: 'published', query: MATCH_ALL, sort: [], from: 0, size: 100, withTotal: true },
    text: { query, locales: ['en'], typoTolerance: true, isRanked: true, ...text },
    ...asked,
  });
}

async function ids(shelf: Shelf, query: string, asked?: Asked): Promise<readonly number[]> {
  const { total, hits } = await search(shelf, query, asked);
  if (asked?.size === undefined && asked?.from === undefined && asked?.cursor === undefined)
    expect(total).toBe(hits.rows.length);
  return hits.sources.map((source) => decode(source).id);
}

async function shelfOf(open: OpenIndex, titles: readonly string[], bodies: readonly string[] = []) {
  const shelf = await openShelf(open);
  await shelf.apply(
    titles.map((title, at) =>
      shelf.put(BOOK, 'published', at + 1, { id: at + 1, title, body: bodies[at] ?? null }),
    ),
  );
  return shelf;
}

const facet = (name: string, type: FacetRequest['type'], more: Partial<FacetRequest> = {}): FacetRequest => {
  const path = name.split('.');
  return { path: path.slice(0, -1), field: path.at(-1) ?? '', type, limit: 10, ...more };
};

async function facetsOf(shelf: Shelf, facets: readonly FacetRequest[], asked: Partial<SearchRequest> = {}) {
  const found = await shelf.index.search({
    ...{ type: BOOK, world: 'published', query: MATCH_ALL, sort: [], from: 0, size: 1, withTotal: true },
    facets,
    ...asked,
  });
  return (found.facets ?? []).map(({ values }) => values.map(({ value, count }) => `${value} ${count}`));
}

/** Tests searches by words, and facets. */
export function describeWords(open: OpenIndex): void {
  it('finds words regardless of case and accent, by stem, prefix and with typos', async () => {
    const shelf = await shelfOf(open, [
      'The Élan of Boundaries',
      'Layers',
      'Aerodynamics',
      'Straße',
      '東京都の本',
    ]);
    expect(await ids(shelf, 'elan ')).toEqual([1]);
    expect(await ids(shelf, 'boundary ')).toEqual([1]);
    expect(await ids(shelf, 'bound')).toEqual([1]);
    expect(await ids(shelf, 'LAYER')).toEqual([2]);
    expect(await ids(shelf, 'areodynmics')).toEqual([3]);
    expect(await ids(shelf, 'earodynamics ')).toEqual([3]);
    expect(await ids(shelf, 'strasse ')).toEqual([4]);
    expect(await ids(shelf, '東京 ')).toEqual([5]);
    expect(await ids(shelf, 'areodynmics', { text: { typoTolerance: false } })).toEqual([]);
  });

  it('finds words with and without vowel marks, in any form of a letter, and with invisible characters', async () => {
    const shelf = await shelfOf(open, [
      'كِتَابٌ أحمد',
      'کتاب مصطفى',
      'שָׁלוֹם עולם',
      'co\u00adoper\u200bation',
      'فارسی',
    ]);
    expect(await ids(shelf, 'كتاب ')).toEqual([1, 2]);
    expect(await ids(shelf, 'احمد ')).toEqual([1]);
    expect(await ids(shelf, 'مصطفي ')).toEqual([2]);
    expect(await ids(shelf, 'שלום ')).toEqual([3]);
    expect(await ids(shelf, 'cooperation ')).toEqual([4]);
    expect(await ids(shelf, 'coop\u00aderation ')).toEqual([4]);
    expect(await ids(shelf, 'فارسي ')).toEqual([5]);
  });

  it('finds words by their parts in languages that write words together, after whole words', async () => {
    const shelf = await openShelf(open);
    const titles = [
      'Kochmesser',
      'Messer',
      'Messee',
      'kochen',
      'Edelkochmesserblock',
      'Edel Block',
      'Topfmesser',
    ];
    const page = (id: number, locale: string, title: string) =>
      shelf.put(PAGE, 'published', id, { id, title, locale });
    await shelf.apply([
      ...titles.map((title, at) => page(at + 1, 'de', title)),
      page(8, 'en', 'Kochmesser'),
      page(9, 'en', 'kochen edel block'),
    ]);
    const find = (query: string, locale = 'de') =>
      ids(shelf, query, { type: PAGE, query: term('locale', locale), text: { locales: [locale] } });
    // A word with another unknown word next to the part is not found, and a word with a typo comes last.
    expect(await find('messer ')).toEqual([2, 1, 5, 3]);
    expect(await find('messer', 'en')).toEqual([]);
    const others = Array.from({ length: 9 }, (_, n) => `de-other${n}`);
    const named = { type: PAGE, query: term('locale', 'de'), text: { locales: ['de', ...others] } };
    expect(await ids(shelf, 'messer ', named)).toEqual([2, 1, 5, 3]);
    expect(await find('koch')).toEqual([1, 4, 5]);
    expect(await find('edel messer ')).toEqual([5]);
    const { text } = await search(shelf, 'messer ', { type: PAGE, text: { locales: ['de'] } });
    expect([...(text?.corrected ?? [])]).toEqual([]);
    expect(text?.terms.get('de')?.[0]?.compounds.get('kochmesser')).toEqual({ start: 4, end: 10 });
    // The words next to a part are those of the vocabulary as it is now.
    await shelf.apply([page(7, 'de', 'Topfmesser'), page(10, 'de', 'Töpfe, ein Topf')]);
    expect(await find('messer ')).toEqual([2, 1, 5, 7, 3]);
    await shelf.apply([page(10, 'de', 'leer'), page(4, 'de', 'leer')]);
    expect(await find('messer ')).toEqual([2, 3]);
  });

  it('finds nothing by signs only', async () => {
    const shelf = await shelfOf(open, ['one', '++ two ++']);
    for (const query of ['+++', '...', '🎉', '« »']) expect(await ids(shelf, query), query).toEqual([]);
  });

  it('orders by typos, distance, weight and exact words, and then by id', async () => {
    const shelf = await shelfOf(
      open,
      [
        'heat far away from any other layer',
        'head layer',
        'layer heat',
        'heat layer',
        'x',
        'heat layers',
        'heat layer',
      ],
      ['', '', '', '', 'heat layer'],
    );
    expect(await ids(shelf, 'heat layer ')).toEqual([4, 7, 6, 5, 3, 1]);
    expect(await ids(shelf, 'heat laier ')).toEqual([4, 7, 5, 3, 1]);
    expect(await ids(shelf, 'heat layer ', { from: 1, size: 2 })).toEqual([7, 6]);
    expect(await ids(shelf, 'heat layer ', { sort: [by('id', 'desc')], text: { isRanked: false } })).toEqual([
      7, 6, 5, 4, 3, 1,
    ]);
  });

  it('ranks words near a prefix first, unless too many words have the prefix', async () => {
    const wordsWith = (letter: string, count: number) =>
      Array.from({ length: count }, (_, at) => `${letter}${at}x`).join(' ');
    const titles = ['sun far from any cay or bay', 'sun cay bay', wordsWith('c', 80), wordsWith('b', 1500)];
    const shelf = await shelfOf(open, titles);
    expect(await ids(shelf, 'sun c')).toEqual([2, 1]);
    expect(await ids(shelf, 'sun b')).toEqual([1, 2]);
    expect(await ids(shelf, 'sun bay')).toEqual([2, 1]);
  });

  it('omits the last words until a row that matches the filter has the other words', async () => {
    const shelf = await shelfOf(open, ['one two', 'one three', 'two three']);
    const { hits, text } = await search(shelf, 'one two zebra ');
    expect(hits.sources.map((source) => decode(source).id)).toEqual([1]);
    expect(text?.terms.get('en')?.map(({ typed }) => typed)).toEqual(['one', 'two']);
    expect(await ids(shelf, 'one two zebra ', { query: term('id', 2) })).toEqual([2]);
    expect(await ids(shelf, 'zebra one ')).toEqual([]);
  });

  it('finds nothing if no row has words', async () => {
    const shelf = await openShelf(open);
    await shelf.apply([1, 2].map((id) => shelf.put(BOOK, 'published', id, { id, title: null, body: null })));
    const question = 'which of these words is there';
    for (const query of ['heat', 'heat lay', question])
      for (const isRanked of [true, false])
        expect(await ids(shelf, query, { text: { isRanked } }), query).toEqual([]);
  });

  it('treats five words as a question: one match is enough, and the best rows come first', async () => {
    const shelf = await shelfOf(open, [
      'wing heat',
      'nothing of it',
      'supersonic heat transfer over a slender wing body',
      'a wing',
    ]);
    const found = await ids(shelf, 'supersonic heat transfer wing body');
    expect(found[0]).toBe(3);
    expect([...found].sort()).toEqual([1, 3, 4]);
  });

  it('returns the correction of a word, and the matched words of documents', async () => {
    const shelf = await shelfOf(open, ['aerodynamics', 'aerodynamic', 'aerodynamic wing']);
    const { text } = await search(shelf, 'aerodynamik ');
    expect([...(text?.corrected ?? [])]).toEqual([['aerodynamik', 'aerodynamic']]);
    await shelf.apply([shelf.drop(BOOK, 'published', 2), shelf.drop(BOOK, 'published', 3)]);
    const again = await search(shelf, 'aerodynamik ');
    expect([...(again.text?.corrected ?? [])]).toEqual([['aerodynamik', 'aerodynamics']]);
  });

  it('corrects to the word of the best rows, rather a whole word than a beginning', async () => {
    const shelf = await shelfOf(
      open,
      ['three', 'three men', 'three four', 'tyre lever'],
      ['', '', 'tyre', ''],
    );
    const { hits, text } = await search(shelf, 'tire');
    expect([...(text?.corrected ?? [])]).toEqual([['tire', 'tyre']]);
    expect(hits.sources.map((source) => decode(source).id)).toEqual([3, 4, 1, 2]);
    const sorted = await search(shelf, 'tire', {
      sort: [by('id', 'asc')],
      text: { isRanked: false },
      from: 2,
    });
    expect([...(sorted.text?.corrected ?? [])]).toEqual([['tire', 'tyre']]);
    const within = await search(shelf, 'tire', { query: term('id', 2) });
    expect([...(within.text?.corrected ?? [])]).toEqual([['tire', 'three']]);
  });

  it('completes the last word, and finds similar ones, among the rows that have the others', async () => {
    const titles = ['red pizza', 'red pizzas', 'red pizza oven', 'blue pizza', 'red piano', 'red piazza'];
    const shelf = await shelfOf(open, titles, ['', '', '', '', 'pizza']);
    const wordsOf = async (
      query: string,
      kind: 'completed' | 'similar',
      overrides: Parameters<typeof search>[2] = {},
    ) => {
      const words = { kind, limit: 3 };
      const found = await search(shelf, query, { ...overrides, text: { ...overrides.text, words } });
      return found.words?.flatMap((each) => [
        each.rows,
        ...each.words.map(({ word, rows }) => `${word} ${rows}`),
      ]);
    };
    expect(await wordsOf('red pi', 'completed')).toEqual([5, 'pizza 3', 'piano 1', 'piazza 1']);
    expect(await wordsOf('pi', 'completed')).toEqual([0, 'pizza 4', 'piano 1', 'piazza 1']);
    expect(await wordsOf('red pi', 'completed', { text: { fields: new Set(['title']) } })).toEqual([
      5,
      ...['pizza 2', 'piano 1', 'piazza 1'],
    ]);
    expect(await wordsOf('red pi', 'completed', { query: term('id', 4) })).toEqual([0]);
    expect(await wordsOf('red pi ', 'completed')).toEqual([5]);
    expect(await wordsOf('red pyzza', 'completed')).toEqual([5, 'pizza 3', 'pizzas 1']);
    expect(await wordsOf('red piazza ', 'similar')).toBeUndefined();
    const blue = { query: term('id', 4) };
    expect(await wordsOf('red piazza ', 'similar', blue)).toEqual([1, 0]);
    expect(await wordsOf('rod pizza', 'similar')).toEqual([6, 'red 5', 0]);
    expect(await wordsOf('rod the pizza', 'similar')).toEqual([6, 'red 5', 0]);
    expect(await wordsOf('rod piz', 'similar')).toEqual([0, 0]);
    expect(await wordsOf('red piano nowhere', 'similar')).toEqual([0, 0, 1]);
    expect(await wordsOf('rod pizza ', 'similar', { text: { typoTolerance: false } })).toEqual([5, 0]);
  });

  it('finds two words that were typed as one, and one that was typed as two', async () => {
    const titles = ['sun and a flower', 'daylight', 'sun flower', 'sun'];
    const shelf = await shelfOf(open, titles, ['', '', '', 'flower']);
    const { hits, text } = await search(shelf, 'sunflower ');
    expect(hits.sources.map((source) => decode(source).id)).toEqual([3]);
    expect(text?.terms.get('en')?.map(({ folded }) => folded)).toEqual(['sunflower']);
    expect(await ids(shelf, 'day light ')).toEqual([2]);
    expect(await ids(shelf, 'day lig')).toEqual([2]);
    expect(await ids(shelf, 'da yli ght ')).toEqual([2]);
    expect([...((await search(shelf, 'day light ')).text?.corrected ?? [])]).toEqual([
      ['day', 'daylight'],
      ['light', 'daylight'],
    ]);
    const exactly = { text: { typoTolerance: false } };
    expect(await ids(shelf, 'sunflower ', exactly)).toEqual([]);
    expect(await ids(shelf, 'day light ', exactly)).toEqual([]);
    expect(await ids(shelf, 'sunflower ', { text: { fields: new Set(['body']) } })).toEqual([]);
    // Rows that the filter refuses are not found by a pair of words either.
    expect(await ids(shelf, 'sunflower ', { query: term('id', 1) })).toEqual([]);
  });

  it('ranks words as they were typed above split and joined ones', async () => {
    const titles = ['sun flower', 'sunflower', 'a flower of the sun', 'sunflowr', 'sunflowers'];
    const shelf = await shelfOf(open, titles);
    expect(await ids(shelf, 'sunflower ')).toEqual([2, 5, 1, 4]);
    expect(await ids(shelf, 'sun flower ')).toEqual([1, 3, 2, 4, 5]);
    const exactly = { text: { typoTolerance: false } };
    expect(await ids(shelf, 'sunflower ', exactly)).toEqual([2, 5]);
    expect(await ids(shelf, 'sun flower ', exactly)).toEqual([1, 3]);
  });

  it('measures the distance of words that were not split', async () => {
    const shelf = await shelfOf(open, [
      'sun flower x x field',
      'sunflowr x x x field',
      'sunflowr sun flower field',
      'flower field sun',
    ]);
    expect(await ids(shelf, 'sunflower field ')).toEqual([3, 2, 1]);
  });

  it('finds one word by several and several by one, if they are synonyms', async () => {
    const shelf = await openShelf(open);
    const names = ['NYC', 'New York City', 'york city, new', 'New City', 'a big apple', 'burgh', 'apple'];
    await shelf.apply(names.map((name, at) => shelf.put(TOWN, 'live', at + 1, { id: at + 1, name })));
    const found = async (query: string) => ids(shelf, query, { type: TOWN });
    expect(await found('nyc')).toEqual([1, 5, 2, 3]);
    expect((await found('new york city ')).toSorted()).toEqual([1, 2, 3, 5]);
    expect((await found('big apple ')).toSorted()).toEqual([1, 2, 3, 5]);
    expect(await found('apple ')).toEqual([5, 7]);
    expect(await found('town ')).toEqual([6]);
    const { text } = await search(shelf, 'nyc', { type: TOWN });
    expect(text?.terms.get('en')?.map(({ folded }) => folded)).toEqual([
      ...['nyc', 'new', 'york', 'city', 'big', 'apple'],
    ]);
    // A word that no row has is omitted, in all readings of the query.
    expect((await found('nyc zebra ')).toSorted()).toEqual([1, 2, 3, 5]);
    // One of many words is enough in a question.
    expect((await found('zebra one two three nyc ')).toSorted()).toEqual([1, 2, 3, 4, 5, 7]);
  });

  it('finds synonyms that a search brings along, in addition to those of the content type', async () => {
    const titles = ['nimbus', 'Two wheelers', 'bicycle', 'steam tram', 'car'];
    const shelf = await shelfOf(open, titles);
    const synonyms = [
      { '*': [['bicycle', 'two wheeler']] },
      { en: [{ from: ['vehicle'], to: ['car', 'steam tram'] }], fr: [['nimbus', 'car']] },
    ];
    const found = async (query: string) =>
      (await ids(shelf, query, { text: { synonyms } })).toSorted((a, b) => a - b);
    expect(await found('bicycles ')).toEqual([2, 3]);
    expect(await found('vehicles ')).toEqual([4, 5]);
    expect(await found('car ')).toEqual([5]);
    expect(await found('nimbus ')).toEqual(await ids(shelf, 'nimbus '));
    expect(await ids(shelf, 'bicycles ')).toEqual([3]);
    expect(await ids(shelf, 'vehicles ')).toEqual([]);
  });

  it('finds synonyms by their stems, and those of one direction only in it', async () => {
    const shelf = await openShelf(open);
    const names = ['Bicycles', 'a two-wheeler', 'steam trams', 'vehicles', 'a set of wheels', 'burghs'];
    await shelf.apply(names.map((name, at) => shelf.put(TOWN, 'live', at + 1, { id: at + 1, name })));
    const found = async (query: string) => (await ids(shelf, query, { type: TOWN })).toSorted();
    expect(await found('bicycle ')).toEqual([1, 2]);
    expect(await found('two wheelers ')).toEqual([1, 2]);
    expect(await found('towns ')).toEqual([6]);
    expect(await found('vehicle ')).toEqual([1, 3, 4]);
    expect(await found('set of wheel ')).toEqual([1, 3, 5]);
    expect(await found('steam trams ')).toEqual([3]);
  });

  it.each([
    ['heat layer ', 'two words'],
    ['layer ', 'one word'],
  ])('orders rows with the same relevance to %s by keys, also page by page (%s)', async (query) => {
    const shelf = await openShelf(open);
    const pages = [3, null, 7, 3, 9];
    await shelf.apply(
      pages.map((count, at) => {
        const title = at === 4 ? 'layers of heat' : 'heat layer';
        return shelf.put(BOOK, 'published', at + 1, { id: at + 1, title, pages: count, genre: 'poem' });
      }),
    );
    const most: SearchRequest['sort'] = [{ path: [], field: 'pages', direction: 'desc-null-last' }];
    expect(await ids(shelf, query, { sort: most })).toEqual([3, 1, 4, 2, 5]);
    expect(await ids(shelf, query, { sort: [by('pages', 'desc')] })).toEqual([2, 3, 1, 4, 5]);
    expect(await ids(shelf, query, { sort: [by('genre'), by('pages')] })).toEqual([1, 4, 3, 2, 5]);
    expect(await ids(shelf, query, { sort: most, from: 1, size: 3 })).toEqual([1, 4, 2]);
    const walked: number[] = [];
    let after: SearchResult['next'] = null;
    do {
      const { hits, next } = await search(shelf, query, { sort: most, size: 2, cursor: { after } });
      walked.push(...hits.sources.map((source) => Number(decode(source).id)));
      after = next ?? null;
    } while (after !== null);
    expect(walked).toEqual([3, 1, 4, 2, 5]);
  });

  it('reflects a change, a removal and a draft', async () => {
    const shelf = await shelfOf(open, ['quixotic']);
    await shelf.apply([shelf.put(BOOK, 'draft', 1, { id: 2, title: 'vermilion' })]);
    expect(await ids(shelf, 'vermilion')).toEqual([]);
    expect(await ids(shelf, 'vermilion', { world: 'draft' })).toEqual([2]);
    await shelf.apply([shelf.put(BOOK, 'published', 1, { id: 1, title: 'zanzibar' })]);
    expect(await ids(shelf, 'quixotic')).toEqual([]);
    expect(await ids(shelf, 'zanzibar')).toEqual([1]);
    await shelf.apply([shelf.drop(BOOK, 'published', 1)]);
    expect(await ids(shelf, 'zanzibar')).toEqual([]);
  });

  it('searches only the named fields, and never private ones', async () => {
    const shelf = await openShelf(open);
    const values = { title: 'wing', body: 'heat', story: '<b>layer</b>', secret: 'hidden' };
    await shelf.apply([shelf.put(BOOK, 'published', 1, { id: 1, ...values })]);
    expect(await ids(shelf, 'layer')).toEqual([1]);
    expect(await ids(shelf, 'hidden')).toEqual([]);
    expect(await ids(shelf, 'heat', { text: { fields: new Set(['title']) } })).toEqual([]);
    expect(await ids(shelf, 'heat', { text: { fields: new Set(['body']) } })).toEqual([1]);
  });

  it('stems each locale in its language', async () => {
    const shelf = await openShelf(open);
    const pages = [
      { id: 1, title: 'chevaux', locale: 'fr' },
      { id: 2, title: 'horses', locale: 'en' },
      { id: 3, title: 'chevaux horses', locale: 'en' },
    ];
    await shelf.apply(pages.map((page) => shelf.put(PAGE, 'published', page.id, page)));
    const inLocales = (query: string, locales: TextSearch['locales']) =>
      ids(shelf, query, { type: PAGE, text: { locales } });
    expect(await inLocales('cheval ', ['fr'])).toEqual([1]);
    expect(await inLocales('horse ', ['en'])).toEqual([2, 3]);
    expect(await inLocales('horse ', ['fr'])).toEqual([]);
    expect(await inLocales('chevaux ', 'all')).toEqual([1, 3]);
  });

  it.each([
    ['heat layer ', [2, 4, 3, 1, 5]],
    ['layers', [3, 1, 2, 4, 5]],
  ])('pages by cursor in the order of relevance to %s', async (query, inOrder) => {
    const titles = ['heat x layer', 'heat layer', 'heat layers', 'heat layer', 'layer heat'];
    const shelf = await shelfOf(open, titles);
    expect(await ids(shelf, query)).toEqual(inOrder);
    for (const size of [1, 2, 5]) {
      const walked: number[] = [];
      let after: NonNullable<SearchRequest['cursor']>['after'] = null;
      do {
        const { hits, next } = await search(shelf, query, { size, cursor: { after } });
        walked.push(...hits.sources.map((source) => decode(source).id));
        after = next ?? null;
      } while (after !== null);
      expect(walked).toEqual(inOrder);
      expect(await ids(shelf, query, { from: 1, size })).toEqual(inOrder.slice(1, 1 + size));
    }
  });

  it('counts values of rows, components, copied and distant relations, each row once', async () => {
    const shelf = await openShelf(open);
    const chapters = (book: number, headings: readonly string[]) => ({
      chapters: headings.map((heading, at) => shelf.part('lib.chapter', { id: book * 10 + at, heading })),
    });
    await shelf.apply(
      [
        shelf.put(BOOK, 'published', 1, { id: 1, genre: 'poem', pages: 10 }, chapters(1, ['a', 'a', 'b'])),
        shelf.put(BOOK, 'published', 2, { id: 2, genre: 'poem', pages: 9 }, chapters(2, ['a'])),
        shelf.put(BOOK, 'published', 3, { id: 3, genre: 'essay', copies: '9007199254740993' }),
        shelf.put(TAG, 'live', 1, { id: 1, name: 'red', weight: 0.1 }),
        shelf.put(TAG, 'live', 2, { id: 2, name: 'red', weight: 0.2 }),
        shelf.put(AUTHOR, 'published', 1, { id: 1, name: 'Ann' }),
        shelf.put(TOWN, 'live', 1, { id: 1, name: 'Rome' }),
      ],
      [
        ...[1, 2].map((tag) => link(BOOK, 'tags', 1, tag)),
        link(BOOK, 'tags', 2, 1),
        ...[1, 2].map((book) => link(BOOK, 'author', book, 1)),
        link(AUTHOR, 'home', 1, 1),
        link(TAG, 'best', 1, 3),
      ],
    );
    const facets = [
      facet('genre', 'enumeration'),
      facet('pages', 'integer'),
      facet('copies', 'biginteger'),
      facet('chapters.heading', 'string'),
      facet('tags.name', 'string'),
      facet('author.home.name', 'string'),
      facet('author.books.genre', 'enumeration'),
      facet('tags.best.genre', 'enumeration'),
      facet('tags.books.author.books.tags.books.author.home.name', 'string'),
      facet('tags.books.tags.best.pages', 'integer'),
      facet('chapters.heading', 'string', { search: 'B' }),
      facet('chapters.heading', 'string', { byName: true, limit: 1 }),
      facet('pages', 'integer', { byName: true, limit: 1 }),
      facet('tags.books.author.home.name', 'string', { byName: true, limit: 1 }),
      facet('pages', 'integer', {
        ranges: [
          { name: '..10', to: 10 },
          { name: '10..', from: 10 },
        ],
      }),
    ];
    expect(await facetsOf(shelf, facets)).toEqual([
      ['poem 2', 'essay 1'],
      ['10 1', '9 1'],
      ['9007199254740993 1'],
      ['a 2', 'b 1'],
      ['red 2'],
      ['Rome 2'],
      ['poem 2'],
      ['essay 2'],
      ['Rome 2'],
      [],
      ['b 1'],
      ['a 2'],
      ['10 1'],
      ['Rome 2'],
      ['..10 1', '10.. 1'],
    ]);
    const { facets: counted = [] } = await shelf.index.search({
      ...{ type: BOOK, world: 'published', query: MATCH_ALL, sort: [], from: 0, size: 0, withTotal: false },
      facets: [facet('tags.weight', 'float'), facet('pages', 'integer')],
    });
    expect(counted[0]?.stats).toEqual({ min: 0.1, max: 0.2, sum: 0.4, avg: 0.4 / 3 });
    expect(counted[1]?.stats).toEqual({ min: 9, max: 10, sum: 19, avg: 9.5 });
  });

  it('counts all matches of a search, for any page, up to a limit', async () => {
    const shelf = await openShelf(open);
    const genres = ['poem', 'essay', 'poem', 'novel'];
    await shelf.apply(
      genres.map((genre, at) =>
        shelf.put(BOOK, 'published', at + 1, { id: at + 1, genre, title: at === 3 ? 'x' : 'heat' }),
      ),
    );
    const text = { query: 'heat', locales: ['en'], typoTolerance: true, isRanked: true };
    const genre = facet('genre', 'enumeration');
    expect(await facetsOf(shelf, [genre], { text })).toEqual([['poem 2', 'essay 1']]);
    expect(await facetsOf(shelf, [{ ...genre, limit: 1 }], { text, from: 2 })).toEqual([['poem 2']]);
    expect(await facetsOf(shelf, [{ ...genre, limit: 2 }])).toEqual([['poem 2', 'essay 1']]);
    const byName = { ...genre, byName: true, limit: 2 } as const;
    expect(await facetsOf(shelf, [byName])).toEqual([['essay 1', 'novel 1']]);
    expect(await facetsOf(shelf, [byName], { text })).toEqual([['essay 1', 'poem 2']]);
    expect(await facetsOf(shelf, [{ ...byName, search: 'p' }])).toEqual([['poem 2']]);
  });
}
