import fc from 'fast-check';
import { splitWords } from '../../shared/search/split-words.ts';
import { TYPED, WORDS } from './searched-articles.ts';

/** Random edits of the notes of `shelf-types.ts`, and random searches of them. */

const LOCALES = ['en', 'fr', 'de'];
const NOTES = 30;
const TOPICS = 4;
const FIELDS = 2;

const sentence = (words: readonly string[], most: number) =>
  fc.array(fc.constantFrom(...words), { maxLength: most }).map((found) => found.join(' '));
const topics = fc.uniqueArray(fc.nat(TOPICS - 1), { maxLength: 3 });
const MARKUP = ['<b>bold</b>', '**layers**', '[cafe](http://a.example/zzz)', '&amp;', '"heat"'];

const written = fc.record(
  {
    title: sentence(WORDS, 4),
    body: sentence([...WORDS, ...MARKUP], 30),
    code: sentence(WORDS, 1),
    secret: sentence(['oysters', 'layer'], 2),
    kind: fc.constantFrom('plain', 'fancy', null),
    stars: fc.constantFrom(null, 1, 2, 3),
    price: fc.constantFrom(null, 0.5, 10, 99.99),
    day: fc.constantFrom(null, '2024-02-29', '2025-01-01'),
    open: fc.boolean(),
    about: fc.option(fc.record({ label: sentence(WORDS, 3) })),
  },
  { requiredKeys: ['title'] },
);

/** Edits name notes, topics and fields by numbers, since each server has its own ids. */
export type ShelfEdit =
  | {
      readonly kind: 'write';
      readonly note: number;
      readonly locale: string;
      readonly isDraft: boolean;
      readonly data: object;
      readonly topics?: readonly number[] | undefined;
    }
  | { readonly kind: 'publish' | 'unpublish' | 'delete'; readonly note: number; readonly locale: string }
  | { readonly kind: 'connect' | 'disconnect'; readonly note: number; readonly topic: number }
  | { readonly kind: 'rename'; readonly topic: number; readonly name: string; readonly field: number }
  | { readonly kind: 'rename-field'; readonly field: number; readonly name: string };

const note = fc.nat(NOTES - 1);
const locale = fc.constantFrom(...LOCALES);
const topic = fc.nat(TOPICS - 1);
const name = fc.constantFrom('Topic 1', 'Same', 'Heat layers', 'Théories', 'aerodynamics');

export const shelfEdit: fc.Arbitrary<ShelfEdit> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      note,
      locale,
      isDraft: fc.boolean(),
      data: written,
      topics: fc.option(topics, { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('publish' as const, 'unpublish' as const, 'delete' as const),
      note,
      locale,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('connect' as const, 'disconnect' as const), note, topic }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('rename' as const), topic, name, field: fc.nat(FIELDS - 1) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('rename-field' as const), field: fc.nat(FIELDS - 1), name }),
  },
);

const FACETS = [
  ...['stars', 'kind', 'open', 'price', 'day', 'topics.name', 'topics.field.name', 'about.label'].map(
    (path) => `facets[${path}][limit]=9`,
  ),
  ...['facets[topics.name][search]=th', 'facets[about.label][search]=la', 'facets[topics.name][limit]=1'],
  ...[
    'facets[price][ranges]=0..10,10..50,50..',
    'facets[stars][ranges]=..2,2..',
    'facets[day][ranges]=2024-06-01..,..2024-06-01',
  ],
];
const FILTERS = [
  ...[
    'filters[stars][$gte]=2',
    'filters[topics][name][$contains]=a',
    'filters[topics][field][name][$notNull]=true',
  ],
  ...[
    'filters[$or][0][open]=true&filters[$or][1][price][$lt]=20',
    'filters[about][label][$containsi]=la',
    'filters[kind][$ne]=plain',
  ],
];
const HIGHLIGHTS = [
  ...['highlight=title', 'highlight=title,body,code', 'highlight[body][snippet]=4&highlight=title'],
  'highlight=body&highlightPreTag=%3Cem%3E&highlightPostTag=%3C/em%3E',
];
const STATUSES = ['', '', 'status=published', 'status=draft'];
const LOCALE_CHOICES = [
  '',
  '',
  'locale=en',
  'locale=fr',
  'locale=de',
  'locale=*',
  'locale[0]=en&locale[1]=fr',
];
const SORTS = ['', '', '', 'sort=title:desc', 'sort=stars,id:desc', 'sort=topics.name'];
const POPULATES = [
  '',
  '',
  'populate=topics',
  'populate[topics][populate]=field&populate=about',
  'populate=*',
];
const PAGES = [
  '',
  'pagination[pageSize]=3',
  'pagination[start]=2&pagination[limit]=4',
  'pagination[page]=2&pagination[pageSize]=5',
];
const CURSOR = 'pagination[pageSize]=4&pagination[cursor]=';

/** Generates typed queries: words with typos and beginnings of words, of up to two languages. */
const typed = fc
  .tuple(sentence([...TYPED, 'oysters', 'warmth'], 6), fc.constantFrom('', '', ' ', '?'))
  .map(([words, end]) => words + end);

export type ShelfRequest = {
  readonly path: string;
  readonly body?: string;
  /**
   * False for questions, which BM25 orders: Elasticsearch counts documents differently. Then all hits are compared, in any
   * order.
   */
  readonly isOrdered: boolean;
};

const WORDS_OF_QUESTIONS = 5;
const SYNONYM = 'heat';

/** Returns true if a query may be a question in a language. A synonym may add a word. */
function mayBeQuestion(query: string): boolean {
  const words = Math.max(...LOCALES.map((locale) => splitWords(query, locale).length));
  return words + query.split(SYNONYM).length - 1 >= WORDS_OF_QUESTIONS;
}

const some = <Item>(items: readonly Item[], most: number) => fc.subarray([...items], { maxLength: most });

const list: fc.Arbitrary<ShelfRequest> = fc
  .record({
    query: typed,
    facets: some(FACETS, 4),
    more: fc.tuple(
      fc.constantFrom('', ...FILTERS),
      fc.constantFrom('', ...HIGHLIGHTS),
      fc.constantFrom(...STATUSES),
      fc.constantFrom(...LOCALE_CHOICES),
    ),
    tolerance: fc.constantFrom('', '', 'typoTolerance=false'),
    shape: fc.tuple(
      fc.constantFrom(...SORTS),
      fc.constantFrom(...POPULATES),
      fc.constantFrom(...PAGES, CURSOR),
    ),
  })
  .map(({ query, facets, more, tolerance, shape: [sort, populate, page] }) => {
    const isOrdered = sort !== '' || !mayBeQuestion(query);
    const search = `search=${encodeURIComponent(query)}`;
    const shape = [sort, populate, isOrdered ? page : 'pagination[pageSize]=100'];
    const parts = [search, ...facets, ...more, tolerance, ...shape];
    return { path: `/api/notes?${parts.filter((part) => part !== '').join('&')}`, isOrdered };
  });

const INDICES = ['notes', 'notes', 'notes/fr', 'notes:price:desc', 'notes/de:title:asc'];
const PARAMS = {
  facets: fc.constantFrom(['*'], ['stars', 'topics.name'], ['topics.field.name', 'about.label', 'open']),
  facetFilters: fc.constantFrom(
    [['stars:1', 'stars:2']],
    ['open:true'],
    ['kind:-plain', ['topics.name:Same']],
  ),
  numericFilters: fc.constantFrom(['price>=10'], [['stars=1', 'price<5']]),
  filters: fc.constantFrom(
    'stars > 1 AND NOT topics.name:Same',
    '(kind:fancy OR open:true) AND price: 0 TO 50',
  ),
  hitsPerPage: fc.constantFrom(0, 3, 50),
  attributesToSnippet: fc.constantFrom(['body:5'], ['title:2', 'body:9']),
  attributesToHighlight: fc.constantFrom(['title'], ['title', 'topics.name', 'code']),
  restrictSearchableAttributes: fc.constantFrom(['title'], ['topics.name', 'body']),
  typoTolerance: fc.boolean(),
  page: fc.constantFrom(0, 1),
};

const INSTANT = '/1/indexes/*/queries?x-algolia-api-key=public&x-algolia-application-id=test';

/** Generates requests with a main query and the queries of facets. */
const instant: fc.Arbitrary<ShelfRequest> = fc
  .record({
    query: typed,
    queries: fc.array(
      fc.record({ indexName: fc.constantFrom(...INDICES), params: fc.record(PARAMS, { requiredKeys: [] }) }),
      { minLength: 1, maxLength: 3 },
    ),
  })
  .map(({ query, queries }) => {
    const isOrdered = !mayBeQuestion(query);
    const all = isOrdered ? {} : { hitsPerPage: 100, page: 0 };
    const requests = queries.map(({ indexName, params }) => ({ indexName, query, ...params, ...all }));
    return { path: INSTANT, body: JSON.stringify({ requests }), isOrdered };
  });

export const shelfRequest: fc.Arbitrary<ShelfRequest> = fc.oneof(
  { weight: 4, arbitrary: list },
  { weight: 1, arbitrary: instant },
);
