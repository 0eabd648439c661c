import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KnownAnswers } from '../../services/delivery/known-answers.ts';
import { partsOfTag } from '../../services/delivery/tag.ts';
import type { ContentApi } from '../../services/http/api/content-api.ts';
import type { Varve } from '../../services/process/open-varve.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { createRandom, type Random } from '../support/naive-random.ts';
import { createDataDirectory } from '../support/server.ts';
import { count } from '../support/takes-minutes.ts';
import { openWithKnownAnswers } from '../support/varve-in-process.ts';

const EDITS = Number(process.env['VARVE_CACHE_EDITS'] ?? count(40, 15));
const SEED = Number(process.env['VARVE_PROPERTY_SEED'] ?? 7);
const RESTAURANTS = 120;

let varve: Varve;
let content: ContentApi;
let known: KnownAnswers;
const ids = new Map<string, string[]>();
const data = createDataDirectory();
const typeOf = (name: string) => contentTypeOf(varve.registry, `api::${name}.${name}`);
const create = async (name: string, values: object) => {
  const list = ids.get(name) ?? [];
  const { documentId } = await content.create(typeOf(name), '', {
    data: { key: `${name}${list.length}`, ...values },
  });
  ids.set(name, [...list, documentId]);
};
const one = (random: Random, name: string) => random.pick(ids.get(name) ?? []);
const KINDS = ['bistro', 'diner', 'cafe'];

function restaurant(random: Random, at: number) {
  return {
    name: `Restaurant ${at}`,
    slug: `r-${at}`,
    kind: random.pick(KINDS),
    rating: random.between(0, 500) / 100,
    price: random.between(10, 90),
    category: one(random, 'category'),
    tags: [one(random, 'tag'), one(random, 'tag')],
  };
}

beforeAll(async () => {
  ({ varve, content, known } = await openWithKnownAnswers(data));
  const random = createRandom(SEED);
  for (let i = 0; i < 12; i++) await create('category', { name: `Category ${i}`, priority: i });
  for (let i = 0; i < 12; i++) await create('tag', { name: `Tag ${i}` });
  for (let i = 0; i < RESTAURANTS; i++) await create('restaurant', restaurant(random, i));
  for (let i = 0; i < RESTAURANTS; i++)
    await create('review', {
      title: `Review ${i}`,
      score: random.between(1, 5),
      restaurant: one(random, 'restaurant'),
    });
});
afterAll(async () => {
  await varve?.close();
  rmSync(data, { recursive: true, force: true });
});

type Page = { readonly type: string; readonly id?: string; readonly query: string };

/** Returns the pages of a guide: each category and kind, the best restaurants, and each restaurant, some with all related documents. */
function pagesOfSite(): readonly Page[] {
  const pages: Page[] = [];
  const page = (type: string, query: string) => pages.push({ type, query });
  for (let i = 0; i < 12; i++)
    page('restaurant', `filters[category][key]=category${i}&sort=rating:desc&fields=name,slug,rating`);
  for (let i = 0; i < 12; i++) page('restaurant', `filters[tags][key]=tag${i}&sort=name&populate=category`);
  for (const kind of KINDS)
    for (let i = 1; i <= 3; i++)
      page(
        'restaurant',
        `filters[kind]=${kind}&sort=rating:desc&pagination[page]=${i}&pagination[pageSize]=10`,
      );
  for (let i = 0; i < RESTAURANTS; i += 2)
    page(
      'restaurant',
      `filters[slug]=r-${i}&populate[category]=true&populate[tags]=true&populate[reviews]=true`,
    );
  for (const id of ids.get('restaurant') ?? []) pages.push({ type: 'restaurant', id, query: 'populate=*' });
  for (const id of ids.get('category') ?? [])
    pages.push({ type: 'category', id, query: 'populate=restaurants' });
  page('category', 'sort=priority');
  page('restaurant', 'sort=rating:desc&pagination[pageSize]=5');
  page('review', 'sort=score:desc,id&pagination[pageSize]=5');
  return pages;
}

/** Makes a random edit. Seven of ten change texts that no list mentions. Returns the type that was written. */
async function edit(random: Random, at: number): Promise<string> {
  const update = async (name: string, values: object) => {
    await content.update({ type: typeOf(name), documentId: one(random, name) }, '', { data: values });
    return name;
  };
  const kind = random.between(1, 100);
  if (kind <= 50) return update('restaurant', { description: `text ${at}` });
  if (kind <= 60) return update('review', { text: `text ${at}` });
  if (kind <= 70) return update('restaurant', { story: `story ${at}` });
  if (kind <= 78) return update('restaurant', { rating: random.between(0, 500) / 100 });
  if (kind <= 84) return update('restaurant', { price: random.between(10, 90) });
  if (kind <= 89) return update('restaurant', { category: one(random, 'category') });
  if (kind <= 93) return update('category', { name: `Category ${at}` });
  if (kind <= 97) {
    await create('review', {
      title: `Review ${at}`,
      score: random.between(1, 5),
      restaurant: one(random, 'restaurant'),
    });
    return 'review';
  }
  await create('restaurant', restaurant(random, RESTAURANTS + at));
  return 'restaurant';
}

const keyOf = ({ type, id = '', query }: Page) => `${type} ${id} ${query}`;

type Shown = { readonly page: Page; readonly bytes: string; readonly types: ReadonlySet<string> };

async function show(page: Page): Promise<Shown> {
  const tags = known.collect();
  const asking = { id: '', isWanted: () => true, isDraft: false, varies: false, tags, shown: tags.shown };
  const type = typeOf(page.type);
  const body =
    page.id === undefined
      ? await content.list(type, page.query, asking)
      : await content.entry(type, page.id, page.query, asking);
  const all = tags.all() ?? new Set();
  known.keep(keyOf(page), { etag: '', isDraft: false, position: known.position(), tags: all });
  const types = new Set([...all].map((tag) => partsOfTag(tag).type));
  return { page, bytes: Buffer.from(body).toString(), types };
}

it(`purges few answers that stay the same (${EDITS} edits)`, { timeout: 300_000 + EDITS * 100 }, async () => {
  const random = createRandom(SEED);
  const shown: Shown[] = [];
  for (const page of pagesOfSite()) shown.push(await show(page));
  const counts = { edits: EDITS, pages: shown.length, changed: 0, purged: 0, purgedByType: 0 };
  for (let at = 0; at < EDITS; at++) {
    const written = `api::${await edit(random, at)}`;
    const type = `${written}.${written.slice('api::'.length)}`;
    for (const [i, { page, bytes, types }] of shown.entries()) {
      if (types.has(type)) counts.purgedByType++;
      const isKept = known.find(keyOf(page)) !== undefined;
      const now = await show(page);
      const isChanged = now.bytes !== bytes;
      if (isChanged) counts.changed++;
      if (!isKept) counts.purged++;
      if (isChanged && isKept) expect.fail(`stale: ${keyOf(page)}`);
      shown[i] = now;
    }
  }
  const ratio = (count: number) => (count / counts.changed).toFixed(2);
  const { purged, purgedByType } = counts;
  process.stdout.write(
    `${JSON.stringify(counts)}: ${ratio(purged)} purged for each answer that changed, ${ratio(purgedByType)} with a tag for each type\n`,
  );
  expect(counts.changed).toBeGreaterThan(0);
  expect(counts.purged / counts.changed).toBeLessThanOrEqual(1.5);
});
