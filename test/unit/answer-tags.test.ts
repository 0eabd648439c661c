import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KnownAnswers } from '../../services/delivery/known-answers.ts';
import { createTagPositions } from '../../services/delivery/tag-positions.ts';
import type { ContentApi } from '../../services/http/api/content-api.ts';
import type { Varve } from '../../services/process/open-varve.ts';
import { contentTypeOf } from '../../shared/schema/schema-registry.ts';
import { openWithKnownAnswers } from '../support/varve-in-process.ts';

const data = mkdtempSync(join(tmpdir(), 'varve-tags-'));
let varve: Varve;
let content: ContentApi;
let known: KnownAnswers;
const ids = new Map<string, string>();

const typeNamed = (name: string) => contentTypeOf(varve.registry, `api::${name}.${name}`);
const create = async (name: string, key: string, values: object = {}) => {
  const { documentId } = await content.create(typeNamed(name), '', { data: { key, name: key, ...values } });
  ids.set(key, documentId);
};
const update = (name: string, key: string, values: object, query = '') =>
  content.update({ type: typeNamed(name), documentId: ids.get(key) ?? '' }, query, { data: values });

beforeAll(async () => {
  ({ varve, content, known } = await openWithKnownAnswers(data));
  await create('category', 'fish');
  await create('category', 'meat');
  await create('restaurant', 'a', { kind: 'cafe', slug: 'a', category: ids.get('fish') });
  await create('restaurant', 'b', { kind: 'diner', slug: 'b' });
});
afterAll(async () => {
  await varve?.close();
  rmSync(data, { recursive: true, force: true });
});

/** Remembers the list of restaurants with this query. Returns true if it is still remembered after a write. */
async function survives(query: string, write: () => Promise<unknown>): Promise<boolean> {
  const tags = known.collect();
  const asking = { id: '', isWanted: () => true, isDraft: false, varies: false, tags, shown: tags.shown };
  const named = query.replace(/:(\w+)/, (_, key) => ids.get(key) ?? '');
  await content.list(typeNamed('restaurant'), named, asking);
  known.keep(query, { etag: '', isDraft: false, position: known.position(), tags: tags.all() });
  const before = known.position();
  await write();
  expect(known.position()).toBeGreaterThan(before);
  return known.find(query) !== undefined;
}

describe('a list', () => {
  it.each([
    [
      'an attribute that it does not mention, of a row that it does not show',
      'filters[kind]=cafe',
      () => update('restaurant', 'b', { description: 'x' }),
    ],
    [
      'another row of a filter that narrows it',
      'filters[slug]=a&sort=stars',
      () => update('restaurant', 'b', { stars: 2 }),
    ],
    [
      'another row of a filter that narrows it twice',
      'filters[$and][0][slug]=a&filters[$and][1][slug]=a&sort=stars',
      () => update('restaurant', 'b', { stars: 3 }),
    ],
    [
      'a new row that its filter leaves out',
      'filters[kind]=cafe',
      () => create('restaurant', 'c', { kind: 'diner' }),
    ],
    [
      'a text of a row that comes after it in its order',
      'sort=slug&pagination[limit]=1',
      () => update('restaurant', 'b', { description: 'z' }),
    ],
    ['a draft', 'sort=name', () => update('restaurant', 'a', { name: 'draft' }, 'status=draft')],
    ['another content type', 'sort=name', () => create('category', 'wine')],
    [
      'a link that it does not show',
      'filters[kind]=street',
      () => update('restaurant', 'b', { category: ids.get('meat') }),
    ],
    [
      'a text of a row behind its filter',
      'filters[category][key]=wine',
      () => update('category', 'fish', { name: 'x' }),
    ],
    [
      'a new row of another target of its filter',
      'filters[category][key]=wine&sort=name',
      () => create('restaurant', 'e', { category: ids.get('fish') }),
    ],
    [
      'an order among rows of another target',
      'filters[category][key]=wine&sort=stars',
      () => update('restaurant', 'a', { stars: 4 }),
    ],
    [
      'a link to a document that its filter does not name',
      'filters[category][documentId]=nobody',
      () => update('restaurant', 'a', { category: ids.get('meat') }),
    ],
    [
      'the value of another target',
      'filters[category][key]=wine',
      () => update('category', 'fish', { key: 'fishes' }),
    ],
  ])('outlasts a change of %s', async (_, query, write) => {
    expect(await survives(query, write)).toBe(true);
  });

  it.each([
    ['a row that it shows', 'filters[kind]=cafe', () => update('restaurant', 'a', { description: 'y' })],
    [
      'an attribute that orders it',
      'filters[kind]=street&sort=stars',
      () => update('restaurant', 'b', { kind: 'street' }),
    ],
    ['a row that joins it', 'filters[kind]=bistro', () => update('restaurant', 'a', { kind: 'bistro' })],
    [
      'a row that leaves it',
      'filters[kind]=bistro&fields=id',
      () => update('restaurant', 'a', { kind: 'cafe' }),
    ],
    ['the number of rows', 'pagination[limit]=1&pagination[start]=1', () => create('restaurant', 'd')],
    [
      'a row behind its filter',
      'filters[category][key]=herbs',
      () => update('category', 'fish', { key: 'herbs' }),
    ],
    [
      'a link behind its filter',
      'filters[category][key]=meat',
      () => update('restaurant', 'a', { category: ids.get('meat') }),
    ],
    [
      'a link that leaves its filter',
      'filters[category][key]=meat&fields=id',
      () => update('restaurant', 'b', { category: null }),
    ],
    [
      'an order among rows of its target',
      'filters[category][key]=meat&sort=stars&fields=id&pagination[start]=90',
      () => update('restaurant', 'b', { category: ids.get('meat'), stars: 5 }),
    ],
    [
      'an attribute that orders rows of its target',
      'filters[category][key]=meat&sort=stars&fields=id&pagination[start]=90',
      () => update('restaurant', 'b', { stars: 1 }),
    ],
    [
      'the number of rows of its target',
      'filters[category][key]=meat&pagination[start]=90',
      () => create('restaurant', 'f', { category: ids.get('meat') }),
    ],
    [
      'a target that disappears',
      'filters[category][documentId][$eq]=:wine&fields=id',
      () => content.remove({ type: typeNamed('category'), documentId: ids.get('wine') ?? '' }, ''),
    ],
    ['a row that it populates', 'populate=category', () => update('category', 'meat', { name: 'z' })],
    [
      'a row that is populated from its other side',
      'filters[slug]=a&populate[category][populate]=restaurants',
      () => update('restaurant', 'c', { category: ids.get('meat') }),
    ],
    [
      'a row whose id alone says where it is',
      'sort=price&pagination[limit]=1',
      () => update('restaurant', 'b', { description: 'y' }),
    ],
    [
      'the number of rows that one of two filters lets in',
      'filters[$or][0][category][key]=meat&filters[$or][1][category][key]=herbs&pagination[start]=90',
      () => create('restaurant', 'g', { category: ids.get('meat') }),
    ],
    [
      'the number of rows that its filter does not leave out',
      'filters[$not][category][key]=herbs&pagination[start]=90',
      () => create('restaurant', 'h', { category: ids.get('meat') }),
    ],
    [
      'the number of rows of a filter that is there three times',
      'filters[$and][0][category][key]=meat&filters[$and][1][category][key]=meat' +
        '&filters[$or][0][category][key]=meat&filters[$or][1][slug]=x&pagination[start]=90',
      () => create('restaurant', 'i', { category: ids.get('meat') }),
    ],
    [
      'an attribute of another filter next to the one that narrows it',
      'filters[slug]=a&filters[$or][0][slug]=x&filters[$or][1][stars]=2&pagination[start]=90',
      () => update('restaurant', 'a', { stars: 2 }),
    ],
    ['words', 'search=nothing', () => update('restaurant', 'b', { description: 'nothing' })],
  ])('does not outlast a change of %s', async (_, query, write) => {
    expect(await survives(query, write)).toBe(false);
  });
});

describe('positions of tags', () => {
  it('ignore changes from before they were watched, also a change that is being applied', () => {
    const positions = createTagPositions();
    positions.note(3n, () => expect.fail('nobody asks'));
    positions.watch();
    expect(positions.isUnchanged(['a'], 2n)).toBe(false);
    expect(positions.isUnchanged(['a'], 3n)).toBe(true);
    positions.note(4n, () => ['a']);
    expect(positions.isUnchanged(['b'], 3n)).toBe(true);
    expect(positions.isUnchanged(['b', 'a'], 3n)).toBe(false);
    expect(positions.isUnchanged(['a'], 4n)).toBe(true);
  });

  it('forget all tags if there are too many', () => {
    const positions = createTagPositions(2);
    positions.watch();
    positions.note(1n, () => ['a', 'b']);
    expect(positions.isUnchanged(['c'], 0n)).toBe(true);
    positions.note(2n, () => ['c']);
    expect(positions.isUnchanged(['d'], 1n)).toBe(false);
    expect(positions.isUnchanged(['d'], 2n)).toBe(true);
  });
});
