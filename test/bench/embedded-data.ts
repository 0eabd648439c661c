import { columnValue } from '../../shared/read-index/column.ts';
import {
  type ChangeBatch,
  type FieldValues,
  type IndexedRow,
  type LinkChange,
  type RowChange,
  type RowVersion,
  WORLDS,
} from '../../shared/read-index/read-index.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { contentTypeOf, type SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { queryableScalars } from '../../shared/schema/system-attributes.ts';

/** Data of the shape and size of `test/conformance/bench/gen-dataset.mjs`, as the graph would feed it to a read index. */

export const uid = (name: string): Uid => `api::${name}.${name}`;

const FIRST =
  'Golden Blue Little Grand Old Casa Chez Royal Green Hidden Élan Sakura Trattoria La El Zur Maison Silver Lucky Urban'.split(
    ' ',
  );
const SECOND =
  'Dragon Door Garden Kitchen Olive Lotus Anchor Fox Table Spoon Pizzeria Bistro Noodle Harbor Lantern Piñata Straße Café Grill Market'.split(
    ' ',
  );
export const WORDS =
  'fresh local seasonal wood fired pasta ramen sushi vegan organic cozy terrace rooftop family classic modern fusion spicy crispy smoky sweet brunch dinner late night wine beer cocktail seafood steak tapas curry dumpling bakery coffee dessert tasting menu chef garden river view'.split(
    ' ',
  );
const PEOPLE =
  'Anna Bob Chloé Dmitri Eve Farid Gina Hugo Iris José Kim Lars Mina Noor Olga Paul Quinn Ravi Sven Tao Uma Vera Wei Xena Yuki Zoë'.split(
    ' ',
  );
export const KINDS = ['bistro', 'diner', 'cafe', 'fine_dining', 'street'] as const;
export const CONTINENTS = [
  'Europe',
  'Asia',
  'Africa',
  'North America',
  'South America',
  'Oceania',
  'Antarctica',
] as const;
const COUNTS = { country: 200, category: 50, tag: 500, chef: 2000, restaurant: 20_000, review: 60_000 };
/** Types that a larger site has more documents of. */
const GROWING = ['chef', 'restaurant', 'review'] as const;

export type Random = {
  readonly below: (n: number) => number;
  readonly between: (low: number, high: number) => number;
  readonly pick: <T>(values: readonly T[]) => T;
  readonly chance: (probability: number) => boolean;
};

/** Creates the pseudo-random generator Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n: number) => Math.floor(next() * n);
  return {
    below,
    between: (low, high) => low + below(high - low + 1),
    pick: (values) => values[below(values.length)] as (typeof values)[number],
    chance: (probability) => next() < probability,
  };
}

type Writer = {
  readonly registry: SchemaRegistry;
  readonly rows: RowChange[];
  readonly links: LinkChange[];
  key: number;
};

/** Makes a text of about so many words. */
export type TextOf = (random: Random, words: number) => string;

const randomWords: TextOf = (random, words) =>
  Array.from({ length: words }, () => random.pick(WORDS)).join(' ');

/** Returns all rows and links in one batch, as an index gets them at start. `times`: how many times the usual content. */
export function benchmarkBatch(
  registry: SchemaRegistry,
  { textOf = randomWords, times = 1 }: { readonly textOf?: TextOf; readonly times?: number } = {},
): ChangeBatch {
  const counts = { ...COUNTS };
  for (const name of GROWING) counts[name] *= times;
  const writer: Writer = { registry, rows: [], links: [], key: 0 };
  const random = createRandom(7);
  const text = (words: number) => textOf(random, words);
  const time = () => new Date(Date.UTC(2020, 0) + random.below(157_766_400) * 1000).toISOString();
  const continents = CONTINENTS.map((name, i) => live(writer, 'continent', i, { name }));
  const countries = many(counts.country, (i) => {
    const values = {
      name: `Country ${i}`,
      code: i.toString(36),
      population: String(random.between(1e4, 1e9)),
    };
    const key = live(writer, 'country', i, {
      ...values,
      area: random.below(1e6) / 10,
      eu: random.chance(0.2),
    });
    linkBoth(writer, 'country', 'continent', key, continents[i % 7] as number);
    return key;
  });
  const categories = many(counts.category, (i) =>
    live(writer, 'category', i, { name: `Category ${i}`, priority: random.between(1, 10) }),
  );
  const tags = many(counts.tag, (i) =>
    live(writer, 'tag', i, { name: `tag ${random.pick(WORDS)} ${i}`, weight: random.below(1000) / 10 }),
  );
  const chefs = many(counts.chef, (i) => {
    const values = {
      name: `${random.pick(PEOPLE)} ${random.pick(SECOND)}`,
      bio: text(20),
      age: random.between(18, 75),
    };
    const keys = versions(writer, 'chef', i, { ...values, active: random.chance(0.7) }, random.chance(0.9));
    linkVersions(writer, 'chef', 'country', keys, asLive(random.pick(countries)));
    return keys;
  });
  const restaurants = many(counts.restaurant, (i) => {
    const values = {
      name: `${random.pick(FIRST)} ${random.pick(SECOND)} ${random.between(1, 999)}`,
      description: text(30),
      email: `r${i}@example.com`,
      slug: `r-${i}`,
      kind: random.pick(KINDS),
      stars: random.between(0, 5),
      visits: String(random.below(1e7)),
      price: random.between(500, 20_000) / 100,
      rating: random.between(10, 50) / 10,
      open: random.chance(0.8),
      foundedOn: time().slice(0, 10),
      opensAt: `${String(random.between(6, 12)).padStart(2, '0')}:30:00.000`,
      inspectedAt: time(),
    };
    const keys = versions(writer, 'restaurant', i, values, random.chance(0.5));
    linkVersions(writer, 'restaurant', 'category', keys, asLive(random.pick(categories)));
    if (random.chance(0.95)) linkVersions(writer, 'restaurant', 'chef', keys, random.pick(chefs));
    const chosen = new Set(
      many(
        random.between(3, 5),
        () => tags[Math.floor(random.below(500) * (random.below(1000) / 1000))] as number,
      ),
    );
    for (const tag of chosen) linkVersions(writer, 'restaurant', 'tags', keys, asLive(tag));
    return keys;
  });
  many(counts.review, (i) => {
    const values = {
      title: text(3),
      text: text(25),
      score: random.between(0, 10),
      author: random.pick(PEOPLE),
    };
    const key = live(writer, 'review', i, { ...values, verified: random.chance(0.6), postedAt: time() });
    const target = restaurants[
      Math.floor(random.below(restaurants.length) * (random.below(1000) / 1000))
    ] as Versions;
    linkVersions(writer, 'review', 'restaurant', asLive(key), target);
  });
  return { position: 1n, rows: writer.rows, links: writer.links };
}

type Versions = { readonly draft: number; readonly published: number | undefined };

const asLive = (key: number): Versions => ({ draft: key, published: key });
const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

function live(writer: Writer, name: string, i: number, values: object): number {
  return put(writer, name, 'live', i, values);
}

function versions(writer: Writer, name: string, i: number, values: object, published: boolean): Versions {
  const draft = put(writer, name, 'draft', i, values);
  return { draft, published: published ? put(writer, name, 'published', i, values) : undefined };
}

function put(writer: Writer, name: string, version: RowVersion, i: number, values: object): number {
  const key = ++writer.key;
  const documentId = `${name.slice(0, 4)}${String(i).padStart(20, '0')}`;
  const at = new Date(Date.UTC(2024, 0) + writer.key * 1000).toISOString();
  const publishedAt = version === 'draft' ? null : at;
  const all = {
    id: key,
    documentId,
    key: `${name}${i}`,
    ...values,
    createdAt: at,
    updatedAt: at,
    publishedAt,
  };
  writer.rows.push({ type: uid(name), version, key, row: indexedRow(writer.registry, name, all) });
  return key;
}

function indexedRow(
  registry: SchemaRegistry,
  name: string,
  values: { [field: string]: unknown },
): IndexedRow {
  const fields: { [field: string]: FieldValues[string] } = {};
  for (const [field, { type }] of queryableScalars(contentTypeOf(registry, uid(name)))) {
    fields[field] = columnValue(type, values[field]);
  }
  fields['$publication'] = 'published';
  fields['$documentPublished'] = true;
  return { source: new Uint8Array(Buffer.from(JSON.stringify(values))), fields, components: {} };
}

function linkBoth(writer: Writer, type: string, attribute: string, source: number, target: number): void {
  linkVersions(writer, type, attribute, asLive(source), asLive(target));
}

const rowSets = new Map<string, LinkChange['rowSet']>();

function linkVersions(writer: Writer, type: string, attribute: string, from: Versions, to: Versions): void {
  let rowSet = rowSets.get(type);
  if (rowSet === undefined) {
    rowSet = { type: uid(type), path: [] };
    rowSets.set(type, rowSet);
  }
  for (const world of WORLDS) {
    const source = from[world];
    const target = to[world];
    if (source === undefined || target === undefined) continue;
    const order = { sourceOrder: writer.links.length, targetOrder: writer.links.length };
    writer.links.push({ rowSet, attribute, world, source, target, order });
  }
}
