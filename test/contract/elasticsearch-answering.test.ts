import { randomUUID } from 'node:crypto';
import type { Client } from '@elastic/elasticsearch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type AnsweringProcesses,
  type AnsweringReport,
  MOST_ANSWERING,
} from '../../shared/read-index/answering-processes.ts';
import { createAnsweringDocuments } from '../../shared/read-index/elasticsearch/indices/answering-documents.ts';
import { openProgressIndex } from '../../shared/read-index/elasticsearch/indices/progress-document.ts';
import { createElasticsearchClient } from '../../shared/read-index/elasticsearch/wire/client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { removeIndices } from '../support/remove-indices.ts';

const space = `answering_${process.pid}`;
const log = randomUUID();

const PATIENT = { timeout: 30_000 };

const report = (name: string, beat: number): AnsweringReport => ({
  process: name,
  beat,
  position: 2n ** 60n + BigInt(beat),
  shape: 'one two',
  isAcknowledged: beat > 1,
});

describe('reports of processes in Elasticsearch', await needsElasticsearch(), () => {
  let url: string;
  let client: Client;
  let processes: AnsweringProcesses;
  let other: AnsweringProcesses;
  beforeAll(async () => {
    url = await elasticsearchUrl();
    client = createElasticsearchClient({ url });
    await openProgressIndex(client, space);
    [processes, other] = [log, randomUUID()].map((name) =>
      createAnsweringDocuments({ client, space, log: name }),
    ) as [AnsweringProcesses, AnsweringProcesses];
  }, 180_000);
  afterAll(async () => {
    await client?.close();
    if (url !== undefined) await removeIndices(url, space);
  });

  it('are the newest one of each process of the log, until it is removed', async () => {
    await processes.report(report('a', 1));
    await other.report(report('b', 1));
    await processes.report(report('a', 2));
    // A read by name finds the report before a search does.
    expect(await processes.reportsOf(['a', 'b'])).toEqual([report('a', 2)]);
    await expect.poll(processes.reports, PATIENT).toEqual([report('a', 2)]);
    await processes.remove('a');
    await processes.remove('a');
    expect(await processes.reportsOf(['a'])).toEqual([]);
    await expect.poll(processes.reports, PATIENT).toEqual([]);
  });

  it('are acknowledged by the leader of the newest epoch', async () => {
    expect(await processes.awaited()).toBeUndefined();
    await processes.await({ epoch: 2, beats: new Map([['a', 3]]) });
    await processes.await({ epoch: 1, beats: new Map([['b', 1]]) });
    expect(await processes.awaited()).toEqual({ epoch: 2, beats: new Map([['a', 3]]) });
  });

  it(`are read of ${MOST_ANSWERING} processes, and of known ones where there are more`, async () => {
    const names = Array.from({ length: MOST_ANSWERING + 20 }, (_, n) => `p${n}`);
    for (let n = 0; n < names.length; n += 20)
      await Promise.all(names.slice(n, n + 20).map((name) => processes.report(report(name, 1))));
    await expect.poll(processes.reports, PATIENT).toHaveLength(MOST_ANSWERING);
    const found = await processes.reports();
    expect(new Set(found.map((one) => one.process)).size).toBe(MOST_ANSWERING);
    const [first, last] = [names.slice(0, MOST_ANSWERING), names.slice(20)];
    for (const some of [first, last])
      expect((await processes.reportsOf(some)).map((one) => one.process)).toEqual(some);
  }, 120_000);
});
