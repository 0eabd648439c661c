import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ElasticsearchFleet } from './elasticsearch-fleet.ts';
import type { Member } from './fleet.ts';
import { sampleOf } from './metrics-client.ts';
import type { Random } from './naive-random.ts';

const KINDS = ['bistro', 'diner', 'cafe'];
const PATIENT = { timeout: 60_000 };

const LISTS = [
  '/api/tags?sort=name',
  '/api/tags?filters[weight][$gte]=5&sort=key&fields=key',
  '/api/tags?filters[name][$containsi]=b&pagination[pageSize]=2',
  '/api/tags?populate=restaurants&sort=key',
  '/api/restaurants?populate=tags&sort=key',
  '/api/restaurants?filters[kind]=bistro&fields=name&sort=name',
  '/api/restaurants?filters[tags][name][$containsi]=a&sort=key&fields=key',
  '/api/restaurants?sort=tags.weight,key&fields=key',
  '/api/restaurants?status=draft&populate[tags][sort]=name',
];

/** Sends a GET to `member`, with the ETag of an earlier answer if there is one. */
export function readFrom(member: Member, path: string, etag?: string): Promise<Response> {
  return fetch(member.server().url + path, { headers: etag === undefined ? {} : { 'if-none-match': etag } });
}

/** Tags and restaurants that are edited at random, and pages of them that are requested again with their ETags, as by a shared cache. */
export type EditedSite = {
  readonly tags: () => readonly string[];
  /** Sends a write to a reading process, and repeats it until it is executed and searches show it. */
  send(method: string, path: string, data?: object): Promise<{ readonly documentId: string }>;
  edit(): Promise<void>;
  /**
   * Asks the processes `members` for each page with its known ETag, and without. Nothing is written meanwhile, so both answers must
   * agree.
   */
  compareAll(members?: readonly Member[]): Promise<void>;
  /** Returns the number of 304 that all processes sent without making the answer. */
  shortcuts(): Promise<number>;
  /** Compares until a process sends a 304 without making the answer. */
  untilKnown(): Promise<void>;
  readonly counts: { readonly pairs: number; readonly unchanged: number };
};

export async function createEditedSite(fleet: ElasticsearchFleet, random: Random): Promise<EditedSite> {
  let [tags, restaurants, written] = [[] as string[], [] as string[], 0];
  const text = () => Array.from({ length: 3 }, () => random.pick([...'abcdef'])).join('');
  const up = () => fleet.apis.filter((member) => member.isUp());
  /** The newest ETag of each path. */
  const known = new Map<string, string>();
  const counts = { pairs: 0, unchanged: 0 };

  const send: EditedSite['send'] = async (method, path, data) => {
    written++;
    const headers = { 'content-type': 'application/json', 'idempotency-key': `edit-${written}` };
    for (let tries = 0; ; tries++) {
      const url = random.pick(up()).server().url + path;
      const answer = await fetch(url, { method, headers, ...(data && { body: JSON.stringify({ data }) }) });
      const body = await answer.text();
      if (answer.status === 202) await untilShown(random.pick(up()), answer.headers.get('varve-position'));
      if (answer.ok)
        return body === '' ? { documentId: '' } : (JSON.parse(body) as { readonly data: never }).data;
      // There may be no leader for a moment, or it has just created the indices and does not read them yet.
      const isPassing = answer.status === 503 || (method === 'POST' && answer.status === 404);
      if (!isPassing || tries > 300) throw new Error(`${path}: ${answer.status} ${body}`);
      await delay(100);
    }
  };
  const put = (path: string, data: object) => send('PUT', path, data);
  const someTags = () => ({ tags: random.sample(tags, random.between(0, 3)) });
  const aTag = () => `/api/tags/${random.pick(tags)}`;
  const aRestaurant = () => `/api/restaurants/${random.pick(restaurants)}`;
  const addTag = async () => {
    const data = { key: `k${written}`, name: text(), weight: random.between(0, 9) };
    tags.push((await send('POST', '/api/tags', data)).documentId);
  };
  const addRestaurant = async () => {
    const data = { key: `k${written}`, name: text(), kind: random.pick(KINDS), ...someTags() };
    restaurants.push((await send('POST', '/api/restaurants', data)).documentId);
  };
  const removeFrom = async (plural: string, from: readonly string[], least: number) => {
    if (from.length < least) return from;
    const removed = random.pick(from);
    await send('DELETE', `/api/${plural}/${removed}`);
    return from.filter((one) => one !== removed);
  };
  const edits: readonly (() => Promise<unknown>)[] = [
    addTag,
    () => put(aTag(), { name: text() }),
    () => put(aTag(), { weight: random.between(0, 9) }),
    () => put(aRestaurant(), { name: text() }),
    () => put(aRestaurant(), { description: text() }),
    () => put(aRestaurant(), someTags()),
    () => put(aRestaurant(), { kind: random.pick(KINDS) }),
    () => put(`${aRestaurant()}?status=draft`, { name: text() }),
    () => send('POST', `${aRestaurant()}/actions/publish`),
    addRestaurant,
    async () => {
      tags = [...(await removeFrom('tags', tags, 6))];
    },
    async () => {
      restaurants = [...(await removeFrom('restaurants', restaurants, 8))];
    },
  ];

  const compare = async (path: string, members: readonly Member[]): Promise<void> => {
    const etag = known.get(path);
    const asked = await readFrom(random.pick(members), path, etag);
    const now = await readFrom(random.pick(members), path);
    await Promise.all([asked.arrayBuffer(), now.arrayBuffer()]);
    const current = now.headers.get('etag');
    if (etag !== undefined) {
      counts.pairs++;
      if (asked.status === 304) counts.unchanged++;
      const said = asked.status === 304 ? etag : asked.headers.get('etag');
      expect(said, `${path} after ${written} edits`).toBe(current);
    }
    if (current === null) known.delete(path);
    else known.set(path, current);
  };
  const compareAll = async (members = up()): Promise<void> => {
    const entries = [
      ...random.sample(tags, 2).map((id) => `/api/tags/${id}?populate=restaurants`),
      ...random.sample(restaurants, 2).map((id) => `/api/restaurants/${id}?populate=tags`),
    ];
    for (const path of [...LISTS, ...entries]) await compare(path, members);
  };
  const shortcuts = async (): Promise<number> => {
    const hits = await Promise.all(
      up().map(async (member) => {
        const metrics = await (await readFrom(member, '/metrics')).text();
        return sampleOf(metrics, 'varve_answer_cache_hits_total') ?? 0;
      }),
    );
    return hits.reduce((sum, one) => sum + one, 0);
  };
  for (let n = 0; n < 5; n++) await addTag();
  for (let n = 0; n < 6; n++) await addRestaurant();
  return {
    tags: () => tags,
    send,
    edit: async () => void (await random.pick(edits)()),
    compareAll,
    shortcuts,
    async untilKnown() {
      const more = async () => {
        const before = await shortcuts();
        await compareAll();
        return (await shortcuts()) - before;
      };
      await expect.poll(more, PATIENT).toBeGreaterThan(0);
    },
    counts,
  };
}

async function untilShown(member: Member, position: string | null): Promise<void> {
  const headers = { 'varve-min-position': position ?? '' };
  const status = async () =>
    (await fetch(`${member.server().url}/api/tags?pagination[pageSize]=1`, { headers })).status;
  await expect.poll(status, PATIENT).toBe(200);
}
