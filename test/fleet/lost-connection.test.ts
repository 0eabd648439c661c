import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { askOnce } from '../support/ask-once.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchFleet, startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import {
  type ElasticsearchProxy,
  type ProxiedRequest,
  startElasticsearchProxy,
} from '../support/elasticsearch-proxy.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const ROUNDS = 6;
const LOST_MS = 400;
const IN_FLIGHT = 4;
/** More rows of one level than are selected at once. */
const RESTAURANTS = 300;
/** The fields of all restaurants are selected while Elasticsearch is asked for their branches. */
const PAGE =
  '/api/tags?fields=name&populate[restaurants][fields]=name&populate[restaurants][populate][branches][fields]=name';
/** Part of the search for branches. */
const BRANCHES = '"t.parent"';
const UNAVAILABLE = { status: 503, json: { error: 'unavailable', status: 503 } };
/** Bytes of a text that every restaurant has, so that its fields take several slices. */
const TEXT = 10_000;

let fleet: ElasticsearchFleet;
let proxy: ElasticsearchProxy;

describe(
  'pages that are being answered when Elasticsearch is lost for a moment',
  await needsElasticsearch(takesMinutes('a fleet that loses Elasticsearch')),
  () => {
    beforeAll(async () => {
      proxy = await startElasticsearchProxy(await elasticsearchUrl());
      const size = { space: `lost_${process.pid}`, projects: 1, apis: 2 };
      fleet = await startElasticsearchFleet({ url: proxy.url, ...size });
      await fill(fleet.apis[0]?.server().url ?? '');
    }, 300_000);
    afterAll(async () => {
      await fleet?.dispose();
      proxy?.close();
    });

    it('end no process: they are answered, or are a 503, and later pages are answered', {
      timeout: 240_000,
    }, async () => {
      const apis = fleet.apis.map((api) => api.server());
      const workers = apis.map((api) => api.worker());
      const statuses: number[] = [];
      let isOver = false;
      const reader = async (url: string) => {
        while (!isOver) statuses.push((await askOnce(url + PAGE)).status);
      };
      const readers = apis.flatMap(({ url }) => Array.from({ length: IN_FLIGHT }, () => reader(url)));
      for (let round = 0; round < ROUNDS; round++) {
        const before = statuses.length;
        let refused = 0;
        const refuseBranches = ({ body }: ProxiedRequest) => {
          if (!body.includes(BRANCHES)) return undefined;
          refused++;
          return UNAVAILABLE;
        };
        while (statuses.length < before + IN_FLIGHT) await delay(5);
        // In every other round only the search for branches fails, so that many pages fail at that point.
        if (round % 2 === 0) proxy.lose();
        else proxy.intercept(refuseBranches);
        await delay(LOST_MS);
        // A slow machine may have sent no such search yet.
        while (round % 2 === 1 && refused === 0) await delay(5);
        proxy.restore();
        proxy.intercept(() => undefined);
      }
      isOver = true;
      await Promise.all(readers);
      expect(new Set(statuses)).toEqual(new Set([200, 503]));
      for (const { url } of apis) expect(await askOnce(url + PAGE)).toMatchObject({ status: 200 });
      expect(apis.map((api) => api.worker())).toEqual(workers);
      for (const api of apis) expect(api.output()).not.toMatch(/worker crashed|no code handled/);
    });
  },
);

async function fill(url: string): Promise<void> {
  const client = createApiClient(url);
  const write = (path: string, data: object) =>
    client.data<{ readonly documentId: string }>('POST', path, { data });
  const made = await Promise.all(upTo(10).map((n) => write('/api/tags', { key: `t${n}`, name: `tag ${n}` })));
  const tags = made.map(({ documentId }) => documentId);
  const { documentId: parent } = await write('/api/restaurants', { key: 'r', name: 'r', tags });
  const description = 'x'.repeat(TEXT);
  await Promise.all(
    upTo(RESTAURANTS - 1).map((n) =>
      write('/api/restaurants', { key: `r${n}`, name: `r ${n}`, description, tags, parent }),
    ),
  );
  // A write may be answered with 202 before searches show it, if the machine is busy.
  const shown = async () =>
    (await client.call('GET', '/api/restaurants?pagination[pageSize]=1')).meta?.pagination?.total;
  while ((await shown()) !== RESTAURANTS) await delay(100);
}

function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => n + 1);
}
