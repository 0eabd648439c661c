import { expect, it } from 'vitest';
import { createInstantSearch } from '../../../services/instant-search/instant-search-api.ts';
import { createEmbeddedIndex } from '../../../shared/read-index/embedded/embedded-index.ts';
import { articleChange, articleRegistry, tagChange, tagLink } from '../../support/searched-articles.ts';

const registry = articleRegistry();
const TERMS = { id: 'test', now: () => 0, ignored() {} };

/** Creates an article with two tags. Searches also find the names of tags, without typos. */
async function openArticles() {
  const index = createEmbeddedIndex({ registry });
  const tags = ['Boundary layers', 'Heat'].map((name, at) => {
    const change = tagChange(at + 1, name);
    const source = Buffer.from(JSON.stringify({ id: at + 1, name }));
    return change.row === null ? change : { ...change, row: { ...change.row, source } };
  });
  const texts = ['Flow', 'A layer', ''];
  const article = articleChange({ key: 1, version: 'published', locale: 'en', texts, stars: 1 });
  const links = [1, 2].map((tag) => tagLink({ key: 1, tag, isTagged: true, world: 'published' }));
  await index.apply({ position: 1n, rows: [...tags, article], links });
  return createInstantSearch({ registry, index, defaultLocale: 'en', caller: {}, rules: {} });
}

async function marked(query: string) {
  const api = await openArticles();
  const { hits } = JSON.parse(Buffer.from(await api.query('articles', { query }, TERMS)).toString());
  return hits[0]._highlightResult;
}

it('marks matches in searched texts of related rows', async () => {
  const { tags } = await marked('layers ');
  expect(tags).toEqual([
    {
      name: {
        value: 'Boundary <em>layers</em>',
        matchLevel: 'full',
        fullyHighlighted: false,
        matchedWords: ['layers'],
      },
    },
    { name: { value: 'Heat', matchLevel: 'none', matchedWords: [] } },
  ]);
});

it('marks no typos in an attribute that is compared without typos', async () => {
  const { tags, body } = await marked('layres ');
  expect(body.value).toBe('A <em>layer</em>');
  expect(tags[0].name.value).toBe('Boundary layers');
});
