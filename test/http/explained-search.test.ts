import { describe, expect, it, onTestFinished } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { startOnElasticsearch } from '../support/corpus-on-elasticsearch.ts';
import { needsElasticsearch } from '../support/elasticsearch.ts';
import { startServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const EXAMPLE = { contentTypes: 'examples/restaurants', arguments: ['--examples'] };
const SYNONYMS = { en: [['taberna', 'wine bar'], { from: ['quay'], to: ['casa'] }] };

/** Queries whose words match in every way that an explanation names. The last ones omit words, correct them, or find nothing. */
const QUERIES = [
  ...[
    'casa',
    'casa mar',
    'tab',
    'taberna rio ',
    'restaurants ',
    'wine bar',
    'wine bars rio ',
    'quay',
    'quays mar',
  ],
  ...[
    'ta berna',
    'casada',
    'casa da mare',
    'the casa',
    'mraé ',
    'tabrena',
    'casa the mraé nowhere',
    'nowhere',
  ],
  'one two three four casa',
];

type Explained = {
  readonly hits: readonly { readonly words: readonly { readonly how: string }[] }[];
};

describe('explain=true', async () => {
  const skip = { ...takesMinutes('explanations of both engines'), timeout: 600_000 };
  it('says the same of each search on both engines', await needsElasticsearch(skip), async () => {
    const servers = [await startServer(EXAMPLE), await startOnElasticsearch(EXAMPLE)];
    onTestFinished(async () => {
      for (const server of servers) await server.dispose();
    });
    const [embedded, other] = servers.map(({ url }) => createApiClient(url));
    if (embedded === undefined || other === undefined) throw new Error('two servers must run');
    for (const client of [embedded, other])
      await client.data('PUT', '/_varve/synonyms/api::restaurant.restaurant', { data: SYNONYMS });
    const kinds = new Set<string>();
    for (const query of QUERIES) {
      const path = `/api/restaurants?search=${encodeURIComponent(query)}&explain=true`;
      const [one, two] = await Promise.all([explained(embedded, path), explained(other, path)]);
      // The engines order the entries that a question finds differently.
      expect(two.hits.toSorted(byText), query).toEqual(one.hits.toSorted(byText));
      expect({ ...two, hits: [] }, query).toEqual({ ...one, hits: [] });
      for (const { words } of one.hits) for (const { how } of words) kinds.add(how);
    }
    expect([...kinds].sort()).toEqual(['exact', 'prefix', 'split', 'stem', 'synonym', 'typo']);
  });
});

function byText(a: object, b: object): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

/** Returns the explanation of a search, without the names of entries, which differ between servers. */
async function explained(client: ReturnType<typeof createApiClient>, path: string): Promise<Explained> {
  const { status, meta } = await client.call<readonly object[]>('GET', path);
  expect(status, path).toBe(200);
  const { search } = (meta as unknown as { readonly explain: { readonly search: Explained } }).explain;
  const hits = search.hits.map(
    ({ documentId: _, ...hit }: Explained['hits'][number] & { documentId?: string }) => hit,
  );
  return { ...search, hits };
}
