import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { startOnElasticsearch } from '../support/corpus-on-elasticsearch.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { type RunningServer, startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const RULES = '/_varve/rules/api::restaurant.restaurant';
const example = () => ({ contentTypes: 'examples/restaurants', arguments: ['--examples'] });

type Entry = { readonly documentId: string; readonly name: string };

describe('on the embedded index', () => describeComparison(() => startServer(example())));

const skip = takesMinutes('comparisons of rules on Elasticsearch');
describe('on Elasticsearch', await needsElasticsearch(skip), () =>
  describeComparison(() => startOnElasticsearch(example())),
);

function describeComparison(start: () => Promise<RunningServer>): void {
  let server: RunningServer;
  beforeAll(async () => {
    server = await start();
  }, 180_000);
  afterAll(() => server.dispose());

  it('says where expected entries are with the rules in force and with others', async () => {
    const { call, data } = createApiClient(server.url);
    const found = await data<readonly Entry[]>('GET', '/api/restaurants?search=casa');
    const [first, second] = found as [Entry, Entry];
    const other = (await data<readonly Entry[]>('GET', '/api/restaurants?search=taberna'))[0] as Entry;
    const inForce = [{ when: 'casa', pin: [second.documentId] }];
    await data('PUT', RULES, { data: inForce });
    const rules = [
      { when: 'casa', pin: [first.documentId], hide: [second.documentId] },
      { when: 'winery', pin: [other.documentId] },
    ];
    const expected = [first, second].map(({ documentId }) => documentId);
    const tests = [
      { search: 'casa', expected },
      { search: 'winery', locale: 'en', expected: [other.documentId, 'nosuchdocument'] },
      { search: 'taberna', expected: [other.documentId] },
    ];
    const compared = await call<unknown>('POST', `${RULES}/compare`, { data: { rules, tests } });
    expect(compared).toMatchObject({
      status: 200,
      data: [
        {
          search: 'casa',
          expected: [
            { documentId: first.documentId, before: 2, after: 1 },
            { documentId: second.documentId, before: 1, after: null },
          ],
        },
        {
          search: 'winery',
          locale: 'en',
          expected: [
            { documentId: other.documentId, before: null, after: 1 },
            { documentId: 'nosuchdocument', before: null, after: null },
          ],
        },
        { search: 'taberna', expected: [{ before: 1, after: 1 }] },
      ],
      meta: { expected: 5, moved: 3, better: 2, worse: 1 },
    });
    // Nothing was stored.
    expect(await data('GET', RULES)).toEqual(inForce);
  });

  it('refuses more than it can answer, and wrong rules', async () => {
    const { call } = createApiClient(server.url);
    const test = { search: 'casa', expected: ['a'] };
    const many = <Each>(length: number, each: Each) => Array.from({ length }, () => each);
    const status = async (body: object) => (await call('POST', `${RULES}/compare`, { data: body })).status;
    expect(await status({ rules: [], tests: many(200, test) })).toBe(200);
    expect(await status({ rules: [], tests: [{ ...test, expected: many(20, 'a') }] })).toBe(200);
    for (const tests of [
      [],
      many(201, test),
      [{ ...test, expected: [] }],
      [{ ...test, expected: many(21, 'a') }],
      [{ ...test, search: '' }],
      [{ ...test, search: 'x'.repeat(513) }],
      [{ ...test, place: 1 }],
    ])
      expect(await status({ rules: [], tests }), JSON.stringify(tests).slice(0, 60)).toBe(400);
    expect(await status({ tests: [test] })).toBe(400);
    expect(await status({ rules: [{ when: 'casa' }], tests: [test] })).toBe(400);
    expect((await call('POST', '/_varve/rules/api::none.none/compare', { data: {} })).status).toBe(400);
  });
}
