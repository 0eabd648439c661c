import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { KnownAnswers } from '../../services/delivery/known-answers.ts';
import type { Tag } from '../../services/delivery/tag.ts';
import type { ContentApi } from '../../services/http/api/content-api.ts';
import type { Varve } from '../../services/process/open-varve.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { openWithKnownAnswers } from '../support/varve-in-process.ts';

const data = mkdtempSync(join(tmpdir(), 'varve-order-tags-'));
let varve: Varve;
let content: ContentApi;
let known: KnownAnswers;
let type: ContentType;
const ids = new Map<string, string>();

beforeAll(async () => {
  ({ varve, content, known } = await openWithKnownAnswers(data));
  type = contentTypeOf(varve.registry, 'api::restaurant.restaurant');
  for (const [key, stars] of Object.entries({ a: 1, b: 1, c: 2, d: 3, e: 4, f: 4 })) {
    const values = { key, name: key, slug: key, stars };
    const { documentId } = await content.create(type, '', { data: values });
    ids.set(key, documentId);
  }
});
afterAll(async () => {
  await varve?.close();
  rmSync(data, { recursive: true, force: true });
});

type Page = {
  readonly data: readonly { readonly key: string }[];
  readonly meta: { readonly pagination: { readonly nextCursor?: string } };
};

/** Requests a list, and remembers its answer. */
async function remember(query: string) {
  const tags = known.collect();
  const asking = { id: '', isWanted: () => true, isDraft: false, varies: false, tags, shown: tags.shown };
  const body = Buffer.from(await content.list(type, query, asking)).toString();
  known.keep(query, { etag: '', isDraft: false, position: known.position(), tags: tags.all() });
  const page = JSON.parse(body) as Page;
  return { page, keys: page.data.map(({ key }) => key), tags: tags.all() ?? new Set<Tag>() };
}

/** Publishes a row again, with a text that no list mentions. Its new id sorts it last among equal rows. */
const publish = (key: string) =>
  content.update({ type, documentId: ids.get(key) ?? '' }, '', {
    data: { description: crypto.randomUUID() },
  });

it('tags an ordered page with the values of its first and its last row', async () => {
  const { keys, tags } = await remember('sort=stars&pagination[start]=1&pagination[limit]=4');
  expect(keys).toEqual(['b', 'c', 'd', 'e']);
  const ties = [...tags].filter((tag) => tag.startsWith('o '));
  expect(ties.map((tag) => tag.split('=')[1])).toEqual(['1', '4']);
});

it('does not keep an ordered page if a row of the previous page moves into it', async () => {
  const query = 'sort=stars&pagination[start]=1&pagination[limit]=3';
  const { keys } = await remember(query);
  const [first = ''] = (await remember('sort=stars&pagination[limit]=1')).keys;
  await publish(first);
  expect(known.find(query)).toBeUndefined();
  expect((await remember(query)).keys).toEqual([first, ...keys.slice(1)]);
});

it('does not keep a page after a cursor if a row from before the cursor moves into it', async () => {
  const one = 'sort=stars&pagination[limit]=3&pagination[cursor]=';
  const { page, keys } = await remember(one);
  expect(keys.at(-1)).toBe('c');
  const next = `${one}${page.meta.pagination.nextCursor}`;
  // The last row before the cursor is the only one with its value.
  expect((await remember(next)).keys).toEqual(['d', 'e', 'f']);
  await publish('c');
  expect(known.find(next)).toBeUndefined();
  expect((await remember(next)).keys).toEqual(['c', 'd', 'e']);
});
