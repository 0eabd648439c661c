import fc from 'fast-check';
import { columnValue } from '../../shared/read-index/column.ts';
import type { LinkChange, ReadIndex, RowChange, RowVersion } from '../../shared/read-index/read-index.ts';
import { buildRegistry } from '../../shared/schema/build-registry.ts';
import type { NaiveField } from './naive-text-search.ts';

/** Articles in two locales with texts, numbers and relations, for tests of search and facets. */
export const ARTICLE = 'api::article.article';
const TAG = 'api::tag.tag';

const type = (singularName: string, attributes: object, more: object = {}) => ({
  model: 'contentType' as const,
  file: `${singularName}.json`,
  namespace: `api::${singularName}`,
  json: {
    kind: 'collectionType',
    info: { singularName, pluralName: `${singularName}s`, displayName: singularName },
    attributes,
    ...more,
  },
});

const localized = { pluginOptions: { i18n: { localized: true } } };

export function articleRegistry() {
  const { registry, problems } = buildRegistry([
    type('tag', {
      name: { type: 'string', pluginOptions: { varve: { search: { typoTolerance: false } } } },
    }),
    type(
      'article',
      {
        title: { type: 'string', ...localized },
        body: { type: 'text', ...localized },
        code: {
          type: 'string',
          pluginOptions: { i18n: { localized: true }, varve: { search: { as: 'keyword', weight: 2 } } },
        },
        secret: { type: 'text', private: true, ...localized },
        stars: { type: 'integer', ...localized },
        tags: { type: 'relation', relation: 'manyToMany', target: TAG },
      },
      {
        options: { draftAndPublish: true },
        pluginOptions: { i18n: { localized: true }, varve: { search: { through: ['tags.name'] } } },
      },
    ),
  ]);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return registry;
}

export const ARTICLE_FIELDS: readonly NaiveField[] = [
  { name: 'title', weight: 2, kind: 'text' },
  { name: 'body', weight: 1, kind: 'text' },
  { name: 'code', weight: 2, kind: 'keyword' },
  { name: 'tags.name', weight: 1, kind: 'spelled' },
];

export type Article = {
  readonly key: number;
  readonly version: RowVersion;
  readonly locale: string;
  readonly texts: readonly string[];
  readonly stars: number | null;
};

/** Words that are similar by stems, accents, typos or prefixes, in two languages and in a script without spaces. */
export const WORDS = [
  ...[
    'layer',
    'layers',
    'player',
    'lawyer',
    'boundary',
    'boundaries',
    'bounded',
    'aerodynamics',
    'aerodynamic',
  ],
  ...[
    'theory',
    'theories',
    'the',
    'of',
    'and',
    'heat',
    'heater',
    'heatings',
    'café',
    'cafe',
    'été',
    'maisons',
    'maison',
  ],
  ...['straße', 'strasse', 'AB-12', '東京都', 'x', 'élève', 'les', 'heatlayer', 'maisonheat'],
];
export const TYPED = [
  ...WORDS,
  'layr',
  'bonudary',
  'areodynamics',
  'aerodynmic',
  'theroy',
  'haet',
  'bo',
  'la',
  'th',
  'h',
  'zzz',
  'heatlayer',
  'theoryheat',
  'bound',
  'boun',
  'daries',
  '東京',
  'lay er s',
];

/** German words, and parts of them. */
const COMPOUNDS = [
  ...[
    'Koch',
    'kochen',
    'Kochmesser',
    'Messern',
    'Brotmesserblöcke',
    'Brot',
    'Block',
    'Blumen',
    'Küchenblume',
  ],
  ...['Küche', 'Messerschaft', 'Kochbrotmesser', 'Blumenmesser', 'einemesser', 'eine', 'messer'],
];
const PARTS = [...COMPOUNDS, 'messer', 'messer', 'blume', 'block', 'kochs', 'Brotmesser', 'messr', 'küchen'];

/** Neighbouring words that may be typed as one, and words that may be typed as several. */
const NEIGHBOURS = ['heat layer', 'heat layer', 'theory heat', 'boun daries', 'maison heat', 'la yer'];
const TOGETHER = [
  'heatlayer',
  'theoryheat',
  'boundaries',
  'maisonheat',
  'layer',
  'heat layer',
  'heat la',
  'ca fé',
];

const sentence = (words: readonly string[], maxLength: number) =>
  fc.array(fc.constantFrom(...words), { maxLength }).map((found) => found.join(' '));

const anyArticle = {
  key: fc.integer({ min: 1, max: 24 }),
  version: fc.constantFrom<RowVersion>('draft', 'published'),
  stars: fc.constantFrom(null, 1, 2, 3),
};

export const article: fc.Arbitrary<Article> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      ...anyArticle,
      locale: fc.constantFrom('en', 'fr'),
      texts: fc.tuple(
        sentence([...WORDS, ...NEIGHBOURS], 3),
        sentence([...WORDS, ...NEIGHBOURS, ...NEIGHBOURS], 8),
        sentence(WORDS, 1),
      ),
    }),
  },
  fc.record({
    ...anyArticle,
    locale: fc.constant('de'),
    texts: fc.tuple(sentence(COMPOUNDS, 3), sentence(COMPOUNDS, 4), sentence(COMPOUNDS, 1)),
  }),
);

export const typedQuery: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof({ weight: 2, arbitrary: sentence(TYPED, 6) }, sentence(TOGETHER, 3), sentence(PARTS, 3)),
    fc.constantFrom('', '', ' ', '?'),
  )
  .map(([words, end]) => words + end);

/** Returns the change that writes an article's row, or removes it if `isGone`. */
export function articleChange({ key, version, locale, texts, stars }: Article, isGone = false): RowChange {
  const [title = '', body = '', code = ''] = texts;
  const values = { title, body, code, stars };
  const fields = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      columnValue(name === 'stars' ? 'integer' : 'text', value),
    ]),
  );
  const row = {
    source: Buffer.from(JSON.stringify({ id: key, locale, ...values })),
    fields: { id: key, documentId: `d${key}`, locale, ...fields },
    components: {},
  };
  return { type: ARTICLE, version, key, row: isGone ? null : row };
}

/** Returns the changes that write tags 1 to 4. */
export function tagChanges(): RowChange[] {
  return [1, 2, 3, 4].map((key) => tagChange(key, tagName(key)));
}

export function tagChange(key: number, name: string): RowChange {
  const fields = { id: key, documentId: `t${key}`, name };
  const row = { source: Buffer.from('{}'), fields, components: {} };
  return { type: TAG, version: 'live', key, row };
}

/** Generates new names of tags. */
export const renaming: fc.Arbitrary<{ readonly tag: number; readonly name: string }> = fc.record({
  tag: fc.integer({ min: 1, max: 4 }),
  name: fc.constantFrom('Tag 1', 'Same', 'Heat layers', 'Théories'),
});

/** Returns the first name of a tag. Tags 3 and 4 have the same name. */
export const tagName = (key: number): string => (key < 3 ? `Tag ${key}` : 'Same');

export type Tagging = {
  readonly key: number;
  readonly tag: number;
  readonly isTagged: boolean;
  readonly world: 'draft' | 'published';
};

export const tagging: fc.Arbitrary<Tagging> = fc.record({
  key: fc.integer({ min: 1, max: 24 }),
  tag: fc.integer({ min: 1, max: 4 }),
  isTagged: fc.boolean(),
  world: fc.constantFrom('draft', 'published'),
});

export function tagLink({ key, tag, isTagged, world }: Tagging): LinkChange {
  const order = isTagged ? { sourceOrder: tag, targetOrder: key } : null;
  return { rowSet: { type: ARTICLE, path: [] }, attribute: 'tags', world, source: key, target: tag, order };
}

/** Returns the number of published articles that a search by words finds. */
export async function countFound(index: ReadIndex, query: string): Promise<number | undefined> {
  const { total } = await index.search({
    ...{ type: ARTICLE, world: 'published', query: { kind: 'match_all' }, sort: [], from: 0, size: 0 },
    withTotal: true,
    text: { query, locales: ['en'], typoTolerance: false, isRanked: true },
  });
  return total;
}
