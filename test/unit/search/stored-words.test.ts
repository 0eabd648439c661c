import { expect, it } from 'vitest';
import { fastDigestBits } from '../../../shared/fast-digest.ts';
import { applyRows } from '../../../shared/read-index/embedded/apply-batch.ts';
import { createEmbeddedIndex } from '../../../shared/read-index/embedded/embedded-index.ts';
import { restoreTexts } from '../../../shared/read-index/embedded/restore-texts.ts';
import { createRowSets, worldRowSet } from '../../../shared/read-index/embedded/row-sets.ts';
import { createSourceStore } from '../../../shared/read-index/embedded/source-store.ts';
import { createTextIndex, unreadRows } from '../../../shared/read-index/embedded/text-index.ts';
import { buildRegistry } from '../../../shared/schema/build-registry.ts';
import { searchOf } from '../../../shared/search/search-settings.ts';
import { WORDS_VERSION } from '../../../shared/search/words-version.ts';
import {
  ARTICLE,
  articleChange,
  articleRegistry,
  tagChanges,
  tagLink,
} from '../../support/searched-articles.ts';
import { createWordMemory, type WordMemory } from '../../support/word-memory.ts';

const ARTICLES = 1_000;

const article = (key: number, body = 'boundary layer') =>
  articleChange({ key, version: 'published', locale: 'en', stars: null, texts: [`title ${key}`, body, ''] });

const articles = (count: number, body?: string) =>
  Array.from({ length: count }, (_, at) => article(at + 1, body));

type Rows = Parameters<ReturnType<typeof createEmbeddedIndex>['apply']>[0]['rows'];

async function open(rows: Rows, wordFiles: WordMemory, registry = articleRegistry()) {
  const index = createEmbeddedIndex({ registry, wordFiles });
  await index.apply({ position: 1n, rows, links: [] });
  return index;
}

type Index = Awaited<ReturnType<typeof open>>;

async function found(index: Index, query: string): Promise<number | undefined> {
  const { total } = await page(index, query, false);
  return total;
}

/** Returns the number of found rows, and the best ones. */
async function page(index: Index, query: string, typoTolerance = true) {
  const { total, hits, text } = await index.search({
    ...{ type: ARTICLE, world: 'published', query: { kind: 'match_all' }, sort: [], from: 0, size: 5 },
    withTotal: true,
    text: { query, locales: ['en'], typoTolerance, isRanked: true },
  });
  return { total, text, sources: hits.sources.map((source) => Buffer.from(source).toString()) };
}

/** Stores the words of a thousand articles. */
async function stored(body?: string): Promise<WordMemory> {
  const files = createWordMemory();
  const index = await open(articles(ARTICLES, body), files);
  await found(index, 'layer ');
  await index.close();
  expect([...files.files.keys()]).toEqual([`${ARTICLE}.published.published`]);
  return files;
}

/** Changes the files. Their digests are those of the new content. */
function rewrite({ files }: WordMemory, change: (bytes: Buffer, name: string) => void): void {
  for (const [name, bytes] of files) {
    const changed = Buffer.from(bytes);
    change(changed, name);
    changed.writeBigUInt64LE(fastDigestBits(changed.subarray(8)), 0);
    files.set(name, changed);
  }
}

/** Stores words with another word, but with the digests of texts without it. That word shows whether stored words are used. */
async function storedWithMark(): Promise<WordMemory> {
  const [{ files }, marked] = [await stored(), await stored('boundary mark5')];
  rewrite(marked, (bytes, name) => {
    const start = 16 + Math.ceil(bytes.readUInt32LE(8) / 8) * 8;
    // The digests are after the keys, which have eight bytes each.
    const [from, to] = [start + 8 * ARTICLES, start + 16 * ARTICLES];
    bytes.set(files.get(name)?.subarray(from, to) ?? [], from);
  });
  return marked;
}

it('takes the words of unchanged rows from the file', async () => {
  const index = await open(articles(ARTICLES), await storedWithMark());
  expect([await found(index, 'mark5 '), await found(index, 'layer ')]).toEqual([ARTICLES, 0]);
});

it('reads the words of rows that were changed, added or removed since', async () => {
  const [, , ...others] = articles(ARTICLES);
  // The rows have other places, as after a start.
  const rows = [article(ARTICLES + 1), ...others.toReversed(), article(2, 'another layer')];
  const index = await open(rows, await storedWithMark());
  expect([await found(index, 'mark5 '), await found(index, 'layer ')]).toEqual([ARTICLES - 2, 2]);
  expect([await found(index, '1 '), await found(index, `${ARTICLES + 1} `)]).toEqual([0, 1]);
});

it('forgets a row whose related texts have one word several times', async () => {
  const tagged = async (wordFiles: WordMemory) => {
    const index = await open([...articles(ARTICLES), ...tagChanges()], wordFiles);
    // Other rows have all its words except those of its tags. Tags 3 and 4 have the same name.
    const texts = ['layer', 'boundary layer', ''];
    const row = articleChange({ key: 7, version: 'published', locale: 'en', stars: null, texts });
    const links = [3, 4].map((tag) => tagLink({ key: 7, tag, isTagged: true, world: 'published' }));
    await index.apply({ position: 2n, rows: [row], links });
    expect(await found(index, 'same ')).toBe(1);
    return index;
  };
  const files = createWordMemory();
  await (await tagged(files)).close();
  expect(files.files.size).toBe(1);
  const index = await tagged(files);
  const links = [3, 4].map((tag) => tagLink({ key: 7, tag, isTagged: false, world: 'published' }));
  await index.apply({ position: 3n, rows: [], links });
  expect(await found(index, 'same ')).toBe(0);
  // A new word gets the number of the forgotten one.
  await index.apply({ position: 4n, rows: [article(9, 'fresh')], links: [] });
  expect(await found(index, 'fresh ')).toBe(1);
});

/** Queries: prefixes, typos, exact words and whole questions. */
const QUERIES = [
  'lay',
  'layre ',
  'boundary layer',
  'bou',
  'ttile',
  'title 7',
  'edited ',
  'fresh layer',
  '12',
];

it.each([
  ['in the same places', (rows: Rows) => rows],
  ['in other places', (rows: Rows) => rows.toReversed()],
  ['some of which are gone', (rows: Rows) => rows.filter((_, at) => at % 7 > 0)],
  [
    'some of which were edited',
    (rows: Rows) => [...rows, article(5, 'edited'), article(900, 'edited layer')],
  ],
])('answers as if it had read all texts, for rows %s, and after changes', async (_, rowsNow) => {
  const rows = rowsNow(articles(ARTICLES));
  const indices = [await open(rows, await stored()), await open(rows, createWordMemory())];
  const answers = async () => {
    const [restored, read] = await Promise.all(
      indices.map((index) => Promise.all(QUERIES.map((query) => page(index, query)))),
    );
    expect(restored).toEqual(read);
  };
  await answers();
  const edited = articles(ARTICLES).flatMap(({ key }) =>
    key % 3 === 0 ? [article(key, 'edited twice')] : [],
  );
  const removed = articles(ARTICLES).flatMap((row) => (row.key % 5 === 0 ? [{ ...row, row: null }] : []));
  const added = Array.from({ length: 300 }, (_, at) => article(2 * ARTICLES + at, 'fresh layer'));
  for (const [at, changes] of [edited, removed, added, edited.slice(0, 9)].entries()) {
    for (const index of indices) await index.apply({ position: BigInt(at + 2), rows: changes, links: [] });
    await answers();
  }
});

it('reads words again if another version stored them', async () => {
  const files = await storedWithMark();
  rewrite(files, (bytes) => {
    const [basis, earlier] = [WORDS_VERSION, WORDS_VERSION - 1].map((version) => `"basis":"[2,${version},`);
    bytes.write(earlier as string, bytes.indexOf(basis as string));
  });
  const index = await open(articles(ARTICLES), files);
  expect([await found(index, 'mark5 '), await found(index, 'layer ')]).toEqual([0, ARTICLES]);
});

it('reads words again if an earlier release stored them', async () => {
  const { files } = await stored();
  const [bytes = Buffer.alloc(0)] = files.values();
  const header = Buffer.from(bytes).subarray(16).toString('latin1');
  const { basis } = JSON.parse(header.slice(0, header.indexOf('\0'))) as { readonly basis: string };
  expect(basis).toContain('[2,');
  const old = createWordMemory();
  for (const name of files.keys()) old.files.set(name, fileOfFormat1(basis.replace('[2,', '[1,')));
  const index = await open(articles(ARTICLES), old);
  expect([await found(index, 'mark5 '), await found(index, 'layer ')]).toEqual([0, ARTICLES]);
  // The words are now stored in the current format.
  await index.close();
  expect([...old.files.values()]).toEqual([...files.values()]);
});

/** Returns a file of format 1 with one row and one word. */
function fileOfFormat1(basis: string): Uint8Array {
  const json = JSON.stringify({ basis, rows: 1, tokens: 2, locales: [{ locale: 'en', bytes: 5 }] });
  const header = Buffer.from(json.padEnd(Math.ceil(json.length / 8) * 8));
  const start = Buffer.alloc(16);
  start.writeUInt32LE(header.length, 8);
  const numbers = [new Float64Array([1]), new BigUint64Array([7n]), new Int32Array([0, 0, 2, 0, -1, 0])];
  const arrays = numbers.map(({ buffer }) => new Uint8Array(buffer));
  const file = Buffer.concat([start, header, ...arrays, Buffer.from('mark5')]);
  file.writeBigUInt64LE(fastDigestBits(file.subarray(8)), 0);
  return file;
}

it('reads words again after other attributes are searched', async () => {
  const { registry } = buildRegistry([
    {
      ...{ model: 'contentType', file: 'article.json', namespace: 'api::article' },
      json: {
        ...{ kind: 'collectionType', options: { draftAndPublish: true } },
        info: { singularName: 'article', pluralName: 'articles', displayName: 'article' },
        pluginOptions: { i18n: { localized: true } },
        attributes: { body: { type: 'text', pluginOptions: { i18n: { localized: true } } } },
      },
    },
  ]);
  const files = await storedWithMark();
  const [bytes = Buffer.alloc(0)] = files.files.values();
  // The name of the words depends on the searched relations.
  files.files.set(`${ARTICLE}.published`, bytes);
  const index = await open(articles(ARTICLES), files, registry);
  expect([await found(index, 'mark5 '), await found(index, 'layer ')]).toEqual([0, ARTICLES]);
});

it.each([
  ['is cut off', (bytes: Uint8Array) => bytes.subarray(0, bytes.length - 1)],
  ['is empty', () => new Uint8Array(0)],
  [
    'has a wrong byte',
    (bytes: Uint8Array) => Uint8Array.from(bytes, (byte, at) => (at === 900 ? byte ^ 1 : byte)),
  ],
])('reads words again if the file %s', async (_, damage) => {
  const files = await storedWithMark();
  for (const [name, bytes] of files.files) files.files.set(name, damage(bytes));
  const index = await open(articles(ARTICLES), files);
  expect([await found(index, 'mark5 '), await found(index, 'layer ')]).toEqual([0, ARTICLES]);
});

it('stores nothing for few rows', async () => {
  const files = createWordMemory();
  const index = await open(articles(ARTICLES - 1), files);
  await found(index, 'layer ');
  await index.close();
  expect(files.files.size).toBe(0);
});

it('stores words while it serves, so that a killed process keeps them', async () => {
  const files = createWordMemory();
  const index = await open(articles(ARTICLES), files);
  await found(index, 'layer ');
  await found(index, 'layer ');
  await expect.poll(() => files.files.size).toBe(1);
  const [before] = files.files.values();
  // One edit does not cause a new file.
  await index.apply({ position: 2n, rows: [article(1, 'edited')], links: [] });
  expect(await found(index, 'edited ')).toBe(1);
  await index.close();
  expect([...files.files.values()]).toEqual([before]);
});

it('stores all words on close, also during a save', async () => {
  const files = createWordMemory();
  const index = await open(articles(ARTICLES), files);
  await found(index, 'layer ');
  await found(index, 'layer ');
  await index.close();
  expect(files.files.size).toBe(1);
});

it('reads rows that change while stored words are loaded', async () => {
  const files = await stored();
  let steps = 0;
  for (let isDone = false; !isDone; steps++) {
    const { index, change } = createUnread(articles(ARTICLES));
    const restoring = restoreTexts(index, files);
    isDone = Array.from({ length: steps }, () => restoring.next()).at(-1)?.done ?? false;
    change(article(7, 'changed'));
    while (restoring.next().done !== true);
    expect([...index.changed]).toEqual([6]);
    expect(unreadRows(index)).toBe(1);
  }
  expect(steps).toBeGreaterThan(10);
});

function createUnread(rows: Rows) {
  const registry = articleRegistry();
  const rowSets = createRowSets(registry, ARTICLES);
  const target = { rowSets, sources: createSourceStore(2 ** 20, undefined) };
  applyRows(target, rows);
  const rowSet = worldRowSet(rowSets, ARTICLE, 'published');
  const index = createTextIndex(rowSets, 'published', rowSet, searchOf(registry, ARTICLE));
  return { index, change: (row: Rows[number]) => applyRows(target, [row]) };
}
