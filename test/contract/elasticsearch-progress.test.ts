import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgetProgress } from '../../shared/read-index/elasticsearch/indices/forget-progress.ts';
import {
  createProgressDocument,
  openProgressIndex,
} from '../../shared/read-index/elasticsearch/indices/progress-document.ts';
import { createPurgingLeaderDocument } from '../../shared/read-index/elasticsearch/indices/space-document.ts';
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

  it('begins again once it is forgotten, with no leader that purges', async () => {
    const log = randomUUID();
    const other = createProgressDocument({ client, space, log: randomUUID() });
    await other.write(progressAt(5n));
    const progress = createProgressDocument({ client, space, log });
    const purging = createPurgingLeaderDocument(client, space, log);
    expect(await purging.read()).toBeUndefined();
    await progress.write(progressAt(1_000n));
    await purging.write({ epoch: 7, shape: 'a' });
    expect(await purging.read()).toEqual({ epoch: 7, shape: 'a' });
    await forgetProgress({ client, space, log });
    expect((await progress.read())?.position).toBe(0n);
    expect(await purging.read()).toBeUndefined();
    await progress.write(progressAt(900n));
    expect(await progress.read()).toEqual(progressAt(900n));
    expect(await other.read()).toEqual(progressAt(5n));
  });
});
