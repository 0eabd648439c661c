import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChangedTags, ChangedTagsStore } from '../../shared/read-index/changed-tags.ts';
import { createProgressDocument } from '../../shared/read-index/elasticsearch/indices/progress-document.ts';
import { createTagsDocument } from '../../shared/read-index/elasticsearch/indices/tags-document.ts';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/wire/client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { createMemoryChangedTags } from '../support/memory-changed-tags.ts';
import { removeIndices } from '../support/remove-indices.ts';

const state = (number: number, set?: string): ChangedTags => ({
  term: 'term',
  epoch: 7,
  number,
  since: 5n,
  upTo: 2n ** 60n + BigInt(number),
  changes: [{ position: 2n ** 60n + BigInt(number), tags: ['a', 'b'] }],
  ...(set && { set }),
});
const glanceOf = ({ term, number, set, upTo }: ChangedTags) => ({ term, number, upTo, ...(set && { set }) });

function contract(open: () => ChangedTagsStore | Promise<ChangedTagsStore>): void {
  let store: ChangedTagsStore;
  beforeAll(async () => {
    store = await open();
  }, 180_000);

  it('has no state at first', async () => {
    expect(await store.read()).toBeUndefined();
    expect(await store.latest()).toEqual({ state: undefined, version: 'absent' });
    expect(await store.glance()).toEqual({ newest: undefined, announced: undefined });
  });

  it('replaces a version once, and shows the state to the next read', async () => {
    const first = await store.replace('absent', state(1, 'set'));
    expect(first).toBeDefined();
    expect(await store.replace('absent', state(2))).toBeUndefined();
    expect(await store.read()).toEqual(state(1, 'set'));
    expect((await store.glance()).newest).toEqual(glanceOf(state(1, 'set')));
    const second = await store.replace(first ?? 'absent', state(2));
    expect(await store.replace(first ?? 'absent', state(3))).toBeUndefined();
    expect(await store.latest()).toEqual({ state: state(2), version: second });
    expect((await store.glance()).newest).toEqual(glanceOf(state(2)));
  });

  it('lets one of several processes replace a version', async () => {
    const { version } = await store.latest();
    const all = await Promise.all([10, 11, 12, 13].map((number) => store.replace(version, state(number))));
    expect(all.filter((one) => one !== undefined)).toHaveLength(1);
  });
}

describe('changed tags in memory', () => contract(createMemoryChangedTags));

describe('changed tags in Elasticsearch', await needsElasticsearch(), () => {
  const space = `tags_${process.pid}`;
  let url: string;
  let client: ReturnType<typeof createElasticsearchClient>;
  const open = async () => {
    url = await elasticsearchUrl();
    client = createElasticsearchClient({ url });
    return createTagsDocument({ client, space, log: 'log' });
  };
  contract(open);
  afterAll(async () => {
    await client?.close();
    if (url !== undefined) await removeIndices(url, space);
  });

  it('shows with it what the leader has announced', async () => {
    const store = createTagsDocument({ client, space, log: 'announced' });
    const progress = createProgressDocument({ client, space, log: 'announced' });
    await progress.write({ epoch: 7, position: 2n ** 60n + 1n, parked: [] });
    expect(await store.glance()).toEqual({ newest: undefined, announced: 2n ** 60n + 1n });
    await store.replace('absent', state(1, 'set'));
    expect(await store.glance()).toEqual({ newest: glanceOf(state(1, 'set')), announced: 2n ** 60n + 1n });
  });

  it('replaces nothing after the index was deleted, but makes it again', async () => {
    const store = createTagsDocument({ client, space, log: 'log' });
    const { version } = await store.latest();
    await client.indices.delete({ index: `${space}-tags` });
    expect(await store.replace(version, state(20))).toBeUndefined();
    const { version: now } = await store.latest();
    expect(now).toBe('absent');
    expect(await store.replace(now, state(20))).toBeDefined();
    expect(await store.read()).toEqual(state(20));
  });
});
