import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ask, createCallers } from '../../support/access-client.ts';
import type { RunningServer } from '../../support/server.ts';

/** The caller may find restaurants, tags and articles, but no drafts, chefs or private attributes. */
const ALLOW = ['restaurant.find', 'restaurant.findOne', 'tag.find', 'article.find'];
/** Words that only hidden texts contain. NOTHING is a word of the same length that no text contains. */
const HIDDEN = { draft: 'quixotidraft', private: 'quixotinotes', forbidden: 'quixotichefs' };
const NOTHING = 'zzxwvyqqwxyz';

/** Ways to search for a text. Answers repeat the text. */
const LISTS: Readonly<Record<string, (text: string) => string>> = {
  search: (text) => `search=${text}`,
  'search, beginning': (text) => `search=${text.slice(0, -3)}`,
  'search, typo': (text) => `search=${text.slice(0, 4)}${text.slice(5)} `,
  'search with other words': (text) => `search=the ${text}&facets=name,stars&highlight=name,description`,
  'search, two words as one': (text) => `search=${text.slice(0, 6)} ${text.slice(6)}`,
  question: (text) => `search=one two three four ${text} five`,
  'search, sorted': (text) => `search=${text}&sort=name:desc&facets[name][search]=${text}`,
  'values of a facet': (text) => `facets[name][search]=${text}`,
  'values of a facet of relations': (text) =>
    `facets[similar.name][search]=${text}&facets[parent.name][search]=${text}`,
};
/** Ways to complete a text. */
const SUGGESTIONS: Readonly<Record<string, (text: string) => string>> = {
  'the whole word': (text) => `q=${text}`,
  'its beginning': (text) => `q=${text.slice(0, -3)}&limit=20`,
  'its beginning with a typo': (text) => `q=${text.slice(0, 4)}${text.slice(5)}`,
  'after another word, with facets': (text) => `q=the ${text.slice(0, -3)}&facets=name,stars`,
  'another word after it': (text) => `q=${text} kit`,
};
const QUERIES: Readonly<Record<string, (text: string) => object>> = {
  query: (text) => ({ query: text }),
  'query, typo': (text) => ({ query: `${text.slice(0, 4)}${text.slice(5)} ` }),
  'query, facets and highlights': (text) => ({
    ...{ query: `the ${text}`, facets: ['name', 'stars'] },
    ...{ attributesToHighlight: ['name', 'description'], attributesToSnippet: ['*:3'] },
  }),
  'query, named attributes': (text) => ({
    query: text,
    restrictSearchableAttributes: ['name', 'description'],
  }),
  'values of a facet': (text) => ({ type: 'facet', facet: 'name', facetQuery: text }),
  'values of a facet of relations': (text) => ({ type: 'facet', facet: 'similar.name', facetQuery: text }),
};

/** A search reveals nothing about hidden content: not by hits, counts, marks, corrections, suggestions or order. */
export function describeSearchLeaks(start: () => Promise<RunningServer>): void {
  let server: RunningServer;
  let ask: Ask;
  let askAll: Ask;

  const write = async (method: string, path: string, data: object): Promise<string> => {
    const { status, body } = await askAll(path, { method, body: { data } });
    expect([200, 201], JSON.stringify(body)).toContain(status);
    return body.data.documentId;
  };

  beforeAll(async () => {
    server = await start();
    ({ ask, askAll } = await createCallers(server.url, ALLOW));
    const chef = await write('POST', '/api/chefs', { key: 'hidden', name: HIDDEN.forbidden });
    const shown = { key: 'shown', name: 'the open kitchen', internalNote: HIDDEN.private, chef };
    const id = await write('POST', '/api/restaurants', shown);
    await write('PUT', `/api/restaurants/${id}?status=draft`, {
      name: HIDDEN.draft,
      description: HIDDEN.draft,
    });
    await write('POST', '/api/restaurants?status=draft', { key: 'draft', name: HIDDEN.draft, similar: [id] });
  }, 300_000);
  afterAll(() => server?.dispose());

  /** Returns an answer without the parts that repeat the question. */
  const answerOf = async (asked: string, answer: ReturnType<Ask>) => {
    const { status, body } = await answer;
    const text = JSON.stringify(body).replace(/"processingTimeMS":\d+/g, '');
    const parts = [
      asked,
      asked.slice(0, -3),
      asked.slice(0, 4) + asked.slice(5),
      asked.slice(0, 6),
      asked.slice(6),
    ];
    return { status, text: parts.reduce((shown, part) => shown.replaceAll(part, '?'), text) };
  };
  const suggest = (by: Ask, text: string, query: (text: string) => string) =>
    answerOf(text, by(`/api/restaurants/_suggest?${query(text).replaceAll(' ', '%20')}`));
  const list = (by: Ask, text: string, query: (text: string) => string) =>
    answerOf(text, by(`/api/restaurants?${query(text).replaceAll(' ', '%20')}`));
  const instant = (text: string, query: (text: string) => object) =>
    answerOf(text, ask('/1/indexes/restaurants/query', { method: 'POST', body: query(text) }));

  describe.each(Object.entries(HIDDEN))('words of hidden texts (%s)', (_kind, word) => {
    test.each(Object.entries(SUGGESTIONS))(
      'are completed like words that no text has: %s',
      async (_surface, query) => {
        const nothing = await suggest(ask, NOTHING, query);
        expect(nothing.status).toBe(200);
        expect(await suggest(ask, word, query)).toEqual(nothing);
      },
    );

    test.each(Object.entries(LISTS))(
      'are answered like words that no text has: %s',
      async (_surface, query) => {
        const nothing = await list(ask, NOTHING, query);
        expect(nothing.status).toBe(200);
        expect(await list(ask, word, query)).toEqual(nothing);
      },
    );

    test.each(Object.entries(QUERIES))(
      "are answered like that in Algolia's protocol: %s",
      async (_surface, query) => {
        const nothing = await instant(NOTHING, query);
        expect(nothing.status).toBe(200);
        expect(await instant(word, query)).toEqual(nothing);
      },
    );
  });

  test('callers who may see drafts find their words', async () => {
    const { body } = await askAll(
      `/api/restaurants?status=draft&search=${HIDDEN.draft}&facets=name&highlight=name`,
    );
    expect(body.meta.pagination.total).toBe(2);
    expect(body.meta.facets.name).toEqual({ [HIDDEN.draft]: 2 });
    const chefs = await askAll(`/api/chefs?search=${HIDDEN.forbidden}`);
    expect(chefs.body.meta.pagination.total).toBe(1);
  });

  test('the order, totals, facets and corrections do not depend on hidden texts', async () => {
    const queries = [
      'search=kitchen&facets=name,tags.name&highlight=name',
      'search=kitchne&pagination[pageSize]=100',
      'search=the open kitchen of some other place&pagination[pageSize]=100',
      'search=open k&facets=stars',
    ].map((query) => `/api/restaurants?${query}`.replaceAll(' ', '%20'));
    const answers = () => Promise.all(queries.map(async (path) => JSON.stringify((await ask(path)).body)));
    await write('POST', '/api/restaurants', {
      key: 'other',
      name: 'open',
      description: 'a kitchen, the open one',
    });
    const before = await answers();
    expect(before[0]).toContain('<mark>kitchen</mark>');
    const often = 'kitchen kitchne kitchener open openk '.repeat(50);
    const [other] = (await askAll('/api/restaurants?filters[key]=other')).body.data;
    const drafts = `/api/restaurants/${other.documentId}?status=draft`;
    await write('PUT', drafts, { name: often.slice(0, 200), description: often });
    for (let n = 0; n < 3; n++) {
      const hidden = { key: `often${n}`, name: often.slice(0, 200), description: often };
      await write('POST', '/api/restaurants?status=draft', hidden);
      await write('POST', '/api/chefs', { key: `often${n}`, name: 'open kitchen', bio: often });
    }
    expect(await answers()).toEqual(before);
  });
}
