import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAnsweringDocuments } from '../../shared/read-index/elasticsearch/indices/answering-documents.ts';
import { forgetProgress } from '../../shared/read-index/elasticsearch/indices/forget-progress.ts';
import {
  createProgressDocument,
  openProgressIndex,
} from '../../shared/read-index/elasticsearch/indices/progress-document.ts';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/wire/client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';

const space = `progress_${process.pid}`;
const progressAt = (position: bigint) => ({ epoch: 7, position, parked: [] });

describe('the progress of a log in Elasticsearch', await needsElasticsearch(), () => {
  let url: string;
  let client: ReturnType<typeof createElasticsearchClient>;
  beforeAll(async () => {
    url = await elasticsearchUrl();
    client = createElasticsearchClient({ url });
    await openProgressIndex(client, space);
  }, 180_000);
  afterAll(async () => {
    await client?.close();
    if (url !== undefined) await removeIndices(url, space);
  });

  it('never becomes earlier by a write', async () => {
    const progress = createProgressDocument({ client, space, log: randomUUID() });
    expect(await progress.read()).toBeUndefined();
    await progress.write(progressAt(1_000n));
    await progress.write(progressAt(900n));
    expect(await progress.read()).toEqual(progressAt(1_000n));
  });

  it('begins again once it is forgotten, and so do the processes that a leader awaits', async () => {
    const log = randomUUID();
    const other = createProgressDocument({ client, space, log: randomUUID() });
    await other.write(progressAt(5n));
    const progress = createProgressDocument({ client, space, log });
    const answering = createAnsweringDocuments({ client, space, log });
    await progress.write(progressAt(1_000n));
    await answering.await({ epoch: 7, beats: new Map([['a', 1]]) });
    await forgetProgress({ client, space, log });
    expect((await progress.read())?.position).toBe(0n);
    expect(await answering.awaited()).toBeUndefined();
    await progress.write(progressAt(900n));
    await answering.await({ epoch: 3, beats: new Map([['b', 2]]) });
    expect(await progress.read()).toEqual(progressAt(900n));
    expect(await answering.awaited()).toEqual({ epoch: 3, beats: new Map([['b', 2]]) });
    expect(await other.read()).toEqual(progressAt(5n));
  });
});
