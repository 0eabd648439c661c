import type { StrapiNode } from '../support/strapi-node.ts';

/** Edits of the corpus's content types in a real Strapi, as editors and front ends make them. */
export type Edit = {
  readonly what: string;
  /** The row that the follower must show. Absent: Strapi refused the edit, or the edit leaves no row to look for. */
  readonly shows?: { readonly path: string; readonly updatedAt: string };
};

type Row = { readonly documentId: string; readonly updatedAt: string };
type Random = () => number;

/** Creates the pseudo-random generator Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const UIDS = {
  restaurants: 'api::restaurant.restaurant',
  chefs: 'api::chef.chef',
  dishes: 'api::dish.dish',
  menus: 'api::menu.menu',
  articles: 'api::article.article',
} as const;
const WITH_DRAFTS = Object.keys(UIDS) as (keyof typeof UIDS)[];
const ALL = [...WITH_DRAFTS, 'categories', 'tags', 'reviews', 'countries', 'topics'] as const;
type Plural = (typeof ALL)[number];

/** Relations, from both sides. */
const RELATIONS: readonly (readonly [from: Plural, attribute: string, to: Plural, toMany: boolean])[] = [
  ['restaurants', 'category', 'categories', false],
  ['restaurants', 'chef', 'chefs', false],
  ['restaurants', 'menu', 'menus', false],
  ['restaurants', 'tags', 'tags', true],
  ['restaurants', 'parent', 'restaurants', false],
  ['restaurants', 'branches', 'restaurants', true],
  ['restaurants', 'similar', 'restaurants', true],
  ['restaurants', 'homeCountry', 'countries', false],
  ['restaurants', 'reviews', 'reviews', true],
  ['categories', 'restaurants', 'restaurants', true],
  ['categories', 'parent', 'categories', false],
  ['tags', 'restaurants', 'restaurants', true],
  ['chefs', 'restaurants', 'restaurants', true],
  ['chefs', 'mentees', 'chefs', true],
  ['chefs', 'signature', 'dishes', false],
  ['menus', 'dishes', 'dishes', true],
  ['menus', 'restaurant', 'restaurants', false],
  ['dishes', 'menus', 'menus', true],
  ['reviews', 'restaurant', 'restaurants', false],
  ['countries', 'neighbours', 'countries', true],
  ['articles', 'featured', 'restaurants', true],
  ['articles', 'related', 'articles', true],
  ['articles', 'topic', 'topics', false],
];
const REQUIRED: Readonly<Record<string, object>> = { reviews: { stars: 3 }, categories: {}, tags: {} };

export function createEditor(strapi: Pick<StrapiNode, 'url' | 'admin'>, random: Random) {
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  const chance = (share: number) => random() < share;
  const known = new Map<Plural, string[]>();
  const call = async (method: string, path: string, body?: object): Promise<Row | undefined> => {
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${strapi.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...init,
    });
    const text = await response.text();
    if (!response.ok || text === '') return undefined;
    return (JSON.parse(text) as { data?: Row }).data;
  };
  const documents = async (plural: Plural): Promise<string[]> => {
    const found = known.get(plural);
    if (found !== undefined) return found;
    const path = `/api/${plural}?status=draft&locale=*&fields=documentId&pagination[pageSize]=100`;
    const { data } = (await (await fetch(`${strapi.url}${path}`)).json()) as { data: Row[] };
    const ids = [...new Set(data.map(({ documentId }) => documentId))];
    known.set(plural, ids);
    return ids;
  };
  const one = async (plural: Plural) => pick(await documents(plural));
  const statusOf = (plural: Plural) => (chance(0.5) && plural in UIDS ? 'status=draft' : 'status=published');
  const localeOf = (plural: Plural) =>
    plural === 'articles' || plural === 'topics' ? `&locale=${pick(['en', 'fr', 'de'])}` : '';
  const edited = (what: string, path: string, row: Row | undefined): Edit =>
    row === undefined
      ? { what: `${what} (refused)` }
      : { what, shows: { path: `${path}`, updatedAt: row.updatedAt } };

  const scalars = (plural: Plural): object => {
    const n = Math.floor(random() * 1_000_000);
    switch (plural) {
      case 'restaurants':
        return {
          name: `R ${n}`,
          stars: n % 6,
          price: (n % 10_000) / 100,
          open: chance(0.5),
          extra: { n, list: [n] },
          opensAt: '08:30:00',
          ...(chance(0.4) ? { hours: [{ day: 'mon', note: `n${n}` }, { day: 'tue' }] } : {}),
          ...(chance(0.3) ? { address: { street: `S ${n}`, city: 'X', geo: { lat: n % 90, lng: 1 } } } : {}),
          ...(chance(0.3)
            ? {
                sections: [
                  { __component: 'blocks.hero', headline: `H ${n}` },
                  { __component: 'blocks.quote', text: 'q' },
                ],
              }
            : {}),
        };
      case 'articles':
        return { title: `A ${n}`, summary: `s${n}` };
      case 'topics':
        return { label: `T ${n}` };
      case 'reviews':
        return { ...REQUIRED['reviews'] };
      default:
        return { name: `N ${n}` };
    }
  };
  const update = async (): Promise<Edit> => {
    const plural = pick(ALL) as Plural;
    const id = await one(plural);
    const query = `${statusOf(plural)}${localeOf(plural)}`;
    const row = await call('PUT', `/api/${plural}/${id}?${query}`, { data: scalars(plural) });
    return edited(`update ${plural}`, `/api/${plural}/${id}?${query}`, row);
  };
  const create = async (): Promise<Edit> => {
    const plural = pick(ALL) as Plural;
    const query = `${statusOf(plural)}${localeOf(plural)}`;
    const data = { key: `k${Math.floor(random() * 1e12)}`, ...REQUIRED[plural], ...scalars(plural) };
    const row = await call('POST', `/api/${plural}?${query}`, { data });
    if (row !== undefined) (await documents(plural)).push(row.documentId);
    return edited(`create ${plural}`, `/api/${plural}/${row?.documentId}?${query}`, row);
  };
  const relate = async (): Promise<Edit> => {
    const [from, attribute, to, toMany] = pick(RELATIONS) as (typeof RELATIONS)[number];
    const [id, far, other] = [await one(from), await one(to), await one(to)];
    const value = !toMany
      ? pick([far, null])
      : pick([
          { connect: [far, other] },
          { connect: [{ documentId: far, position: { start: true } }] },
          { disconnect: [far] },
          { set: [far, other] },
        ]);
    const query = `${statusOf(from)}${localeOf(from)}`;
    const row = await call('PUT', `/api/${from}/${id}?${query}`, { data: { [attribute]: value } });
    return edited(`relate ${from}.${attribute} ${JSON.stringify(value)}`, `/api/${from}/${id}?${query}`, row);
  };
  const act = async (): Promise<Edit> => {
    const plural = pick(WITH_DRAFTS) as keyof typeof UIDS;
    const action = pick(['publish', 'publish', 'unpublish', 'discard']);
    const id = await one(plural);
    const locale = plural === 'articles' ? `?locale=${pick(['en', 'fr', 'de'])}` : '';
    const path = `/content-manager/collection-types/${UIDS[plural]}/${id}/actions/${action}${locale}`;
    const response = await strapi.admin('POST', path);
    await response.text();
    return { what: `${action} ${plural} ${response.status}` };
  };
  const remove = async (): Promise<Edit> => {
    const plural = pick(ALL) as Plural;
    const id = await one(plural);
    const isOneLocale = chance(0.5) && localeOf(plural) !== '';
    await call(
      'DELETE',
      `/api/${plural}/${id}${isOneLocale ? '?locale=fr' : localeOf(plural) === '' ? '' : '?locale=*'}`,
    );
    if (!isOneLocale)
      known.set(
        plural,
        (await documents(plural)).filter((each) => each !== id),
      );
    return { what: `delete ${plural}` };
  };
  const files: number[] = [];
  const media = async (): Promise<Edit> => {
    const file = pick(files);
    if (file !== undefined && chance(0.2)) {
      files.splice(files.indexOf(file), 1);
      await call('DELETE', `/api/upload/files/${file}`);
      return { what: 'delete file' };
    }
    if (file !== undefined && chance(0.6)) {
      const id = await one('restaurants');
      const query = statusOf('restaurants');
      const row = await call('PUT', `/api/restaurants/${id}?${query}`, {
        data: chance(0.5) ? { logo: file } : { gallery: files.slice(-3) },
      });
      return edited('link file', `/api/restaurants/${id}?${query}`, row);
    }
    const form = new FormData();
    form.set('files', new Blob([`text ${random()}`], { type: 'text/plain' }), `f${files.length}.txt`);
    const response = await fetch(`${strapi.url}/api/upload`, { method: 'POST', body: form });
    const added = (await response.json()) as { id: number }[];
    if (response.ok) files.push(...added.map(({ id }) => id));
    return { what: 'add file' };
  };
  const KINDS = [update, update, update, create, relate, relate, relate, act, act, act, remove, media];
  return {
    /** Makes one edit. */
    edit: (): Promise<Edit> => (pick(KINDS) as (typeof KINDS)[number])(),
  };
}
