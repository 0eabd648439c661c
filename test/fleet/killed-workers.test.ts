import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askOnce } from '../support/ask-once.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchFleet, startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import { type ElasticsearchProxy, startElasticsearchProxy } from '../support/elasticsearch-proxy.ts';
import type { RunningServer } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** Number of times that the workers are killed. KILL_ROUNDS=100 for a longer run. */
const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 5);
/** Kills in a row, each as soon as the next worker has started. */
const IN_A_ROW = 4;

let fleet: ElasticsearchFleet;
let proxy: ElasticsearchProxy;
let project: RunningServer;
let api: RunningServer;

function metricsOf(server: RunningServer): string {
  return `${/Metrics and health are at (\S+)/.exec(server.output())?.[1]}/metrics`;
}

/** Kills the worker and those that replace it. Returns the number of killed workers. */
async function killWorkers(server: RunningServer, times: number): Promise<number> {
  const before = server.output().match(/worker crashed/g)?.length ?? 0;
  for (let killed = 0, last = 0; killed < times; ) {
    const pid = server.worker();
    if (pid === undefined || pid === last) await delay(5);
    else {
      process.kill(pid, 'SIGKILL');
      last = pid;
      killed++;
    }
  }
  while ((server.output().match(/worker crashed/g)?.length ?? 0) < before + times) await delay(5);
  return times;
}

describe(
  'workers of a fleet on Elasticsearch that are killed',
  await needsElasticsearch(takesMinutes('a fleet whose workers are killed')),
  () => {
    beforeAll(async () => {
      proxy = await startElasticsearchProxy(await elasticsearchUrl());
      fleet = await startElasticsearchFleet({
        ...{ url: proxy.url, space: `killed_${process.pid}`, projects: 1, apis: 1 },
        arguments: ['--metrics-port', '0'],
      });
      [project, api] = [...fleet.projects, ...fleet.apis].map((member) => member.server()) as [
        RunningServer,
        RunningServer,
      ];
    }, 180_000);
    afterAll(async () => {
      await fleet?.dispose();
      proxy?.close();
    });

    it('are replaced by the same server on the same ports, however often', async () => {
      let restarts = 0;
      for (let round = 1; round <= ROUNDS; round++) {
        const times = round % 2 === 0 ? IN_A_ROW : 1;
        await Promise.all([killWorkers(api, times), killWorkers(project, times)]);
        restarts += times;
        // The write reaches the killed leader through the killed reader.
        const body = JSON.stringify({ data: { key: `t${round}`, name: `tag ${round}` } });
        expect(await askOnce(`${api.url}/api/tags`, 'POST', body)).toMatchObject({ status: 201 });
        const read = await askOnce(`${api.url}/api/tags?pagination[pageSize]=1`);
        expect(JSON.parse(read.text)).toMatchObject({ meta: { pagination: { total: round } } });
        for (const server of [api, project]) {
          const { text } = await askOnce(metricsOf(server));
          expect(text).toMatch(new RegExp(`^varve_worker_restarts ${restarts}$`, 'm'));
        }
      }
      for (const server of [api, project])
        expect(server.output().match(/Varve serves/g), server.output()).toHaveLength(1);
    });

    it('are replaced while Elasticsearch does not answer, and serve when it does', async () => {
      proxy.lose();
      await Promise.all([killWorkers(api, 1), killWorkers(project, 1)]);
      while (!/waiting for Elasticsearch/.test(api.output())) await delay(20);
      proxy.restore();
      expect(await askOnce(`${api.url}/api/tags`)).toMatchObject({ status: 200 });
    });

    it('end with their server', async () => {
      for (const server of [api, project]) expect(await server.stop()).toMatchObject({ code: 0 });
    });
  },
);
