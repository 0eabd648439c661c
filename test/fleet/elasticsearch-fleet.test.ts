import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { foundSums, sumsOfLog } from '../support/document-sums.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchFleet, startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import { startReader } from '../support/fleet.ts';
import { type SentEdit, startFleetWriters } from '../support/fleet-writers.ts';
import { startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { readLogFacts, withLog } from '../support/log-facts.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { createDocumentIds, startWriteLoad } from '../support/write-load.ts';

/**
 * Two `varve project` and two `varve api` on one log. The leader is killed in the middle of writes. FLEET_KILLS=20 for a full run.
 * With FLEET_LOG=double, the log is in the gRPC double of KurrentDB instead of an SQLite file.
 */
const KILLS = Number(process.env['FLEET_KILLS'] ?? 2);
const LOG = process.env['FLEET_LOG'] === 'double' ? 'the gRPC double of KurrentDB' : 'an SQLite file';
const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');
/** Namespace of this run, so that several runs can use the same Elasticsearch. The names of its indices begin with it. */
const space = `fleet_${process.pid}`;

let fleet: ElasticsearchFleet;
let elasticsearch: string;
let stopLog = () => {};

describe(
  `a fleet on Elasticsearch, its log in ${LOG}`,
  await needsElasticsearch(takesMinutes('a fleet on Elasticsearch')),
  () => {
    beforeAll(async () => {
      elasticsearch = await elasticsearchUrl();
      const size = { url: elasticsearch, space, projects: 2, apis: 2 };
      if (LOG === 'an SQLite file') {
        fleet = await startElasticsearchFleet(size);
        return;
      }
      const double = await startKurrentDbDouble();
      const args = ['--access-key', ACCESS_KEY];
      fleet = await startElasticsearchFleet({ ...size, eventStore: double.url, arguments: args });
      stopLog = double.stop;
    }, 180_000);
    afterAll(async () => {
      await fleet?.dispose();
      stopLog();
    });

    it('shows a write in each api process, whatever process accepted it', async () => {
      const [one, other] = fleet.apis.map((api) => createApiClient(api.server().url)) as [
        ApiClient,
        ApiClient,
      ];
      const chef = await one.call<{ documentId: string }>('POST', '/api/chefs', {
        data: { key: 'c', name: 'Ada' },
      });
      expect(chef.status).toBe(201);
      const restaurant = await other.call<{ documentId: string }>('POST', '/api/restaurants', {
        data: { key: 'r', name: 'R', chef: chef.data.documentId },
      });
      const renamed = await other.call('PUT', `/api/chefs/${chef.data.documentId}`, {
        data: { name: 'Grace' },
      });
      const headers = { 'varve-min-position': renamed.headers.get('varve-position') ?? '' };
      for (const api of fleet.apis) {
        const query = 'filters[chef][name]=Grace&populate=chef';
        const answer = await fetch(`${api.server().url}/api/restaurants?${query}`, { headers });
        expect(await answer.json()).toMatchObject({
          data: [{ documentId: restaurant.data.documentId, chef: { name: 'Grace' } }],
        });
      }
    });

    it('the writing process answers no reads, and names the process that does', async () => {
      for (const project of fleet.projects) {
        const { url } = project.server();
        const answer = await fetch(`${url}/api/tags`);
        expect(answer.status).toBe(404);
        expect(await answer.json()).toMatchObject({
          error: { message: 'This process answers no reads: ask varve api or varve serve' },
        });
        expect((await fetch(`${url}/health/ready`)).status).toBe(200);
      }
    });

    it(`loses no write, applies none twice and answers every read while its leader is killed ${KILLS} times`, {
      timeout: 300_000 + KILLS * 60_000,
    }, async ({ onTestFailed }) => {
      let step = '';
      onTestFailed(() => console.log(`it failed while it ${step}\n${lastWords()}`));
      const writers = startFleetWriters({ members: fleet.apis, perMember: 3, name: 'written' });
      const ids = createDocumentIds();
      const editors = fleet.apis.map((api, i) => startWriteLoad(api.server().url, ids, 2, i + 1));
      const readers = fleet.apis.map((api) => startReader(api, '/api/restaurants?populate=chef&sort=name'));
      const takeovers: number[] = [];
      for (let kill = 1; kill <= KILLS; kill++) {
        step = `waited for a leader before kill ${kill}`;
        const killed = await fleet.leader();
        step = `waited for writes before kill ${kill}`;
        await writers.answered(30);
        const started = performance.now();
        step = `waited for the end of ${killed.name} after kill ${kill}`;
        await killed.end('SIGKILL');
        step = `waited for a leader after kill ${kill}`;
        await fleet.leader();
        takeovers.push(performance.now() - started);
        step = `waited for writes after kill ${kill}`;
        await writers.answered(30);
        step = `waited for the start of ${killed.name} after kill ${kill}`;
        await killed.start();
      }
      step = 'waited for the last writes';
      const before = editors.map((load) => load.answered());
      await Promise.all(editors.map((load) => load.written(2)));
      await Promise.all([writers.stop(), ...editors.map((load) => load.stop())]);
      const failures = (await Promise.all(readers.map((reader) => reader.stop()))).flat();

      // An editor stops after a refused write.
      expect(editors.every((load, i) => load.answered() > (before[i] ?? 0))).toBe(true);
      expect(writers.refused).toEqual([]);
      expect(failures).toEqual([]);
      console.log(
        `takeover after ${takeovers.map(seconds).join(', ')}; the write that waited longest: ${seconds(writers.longest())}; ${writers.sent.length} writes`,
      );
      await expectOnce(writers.sent);
      await expectSameAsRebuilt();
    });
  },
);

/** Returns the end of each process's output. */
function lastWords(): string {
  const members = [...fleet.projects, ...fleet.apis];
  return members
    .map(({ name, server, isUp }) => `${name} ${isUp() ? 'up' : 'down'}:\n${server().output().slice(-2_000)}`)
    .join('\n');
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

/** Checks that every answered write is once in the log and once in the answers of both api processes. */
async function expectOnce(sent: readonly SentEdit[]): Promise<void> {
  const answered = sent.filter(({ isAnswered }) => isAnswered);
  expect(answered.length).toBeGreaterThan(KILLS * 30);
  const facts = await readLogFacts(fleet.eventStore, space);
  for (const { key, number } of answered)
    expect(facts.edits.get(`${key} ${number}`), `${key} ${number}`).toBe(1);
  // Only the writers' names are unique. The editors' values are random and may repeat.
  const twice = [...facts.edits, ...facts.created].filter(
    ([name, times]) => name.startsWith('written-') && times > 1,
  );
  expect(twice).toEqual([]);
  expect(facts.claims).toBeGreaterThanOrEqual(KILLS + 1);
  const keys = [...new Set(answered.map(({ key }) => key))].sort();
  for (const api of fleet.apis) expect((await writtenKeys(api.server().url)).sort()).toEqual(keys);
}

/** Returns the keys of the writers' restaurants, in answers that contain all writes so far. */
async function writtenKeys(url: string): Promise<string[]> {
  const last = await createApiClient(url).call('POST', '/api/tags', { data: { key: url } });
  expect(last.status).toBe(201);
  const headers = { 'varve-min-position': last.headers.get('varve-position') ?? '' };
  const keys: string[] = [];
  for (let page = 1; keys.length === (page - 1) * 100; page++) {
    const query = `fields=key&filters[key][$startsWith]=written-&sort=id&pagination[page]=${page}&pagination[pageSize]=100`;
    const answer = await fetch(`${url}/api/restaurants?${query}`, { headers });
    expect(answer.status).toBe(200);
    const { data } = (await answer.json()) as { readonly data: readonly { readonly key: string }[] };
    keys.push(...data.map(({ key }) => key));
  }
  return keys;
}

/** Checks that the caught-up indices hold the same documents as a rebuild: none is missing, none is left over. */
async function expectSameAsRebuilt(): Promise<void> {
  const { eventStore } = fleet;
  const expected = [...(await withLog({ eventStore, space }, (log) => sumsOfLog(log, space)))].sort();
  expect(expected.length).toBeGreaterThan(50);
  let found = [...(await foundSums(elasticsearch, space))].sort();
  // Retry, since the last refresh may not have finished.
  for (let tries = 0; tries < 120 && JSON.stringify(found) !== JSON.stringify(expected); tries++) {
    await delay(250);
    found = [...(await foundSums(elasticsearch, space))].sort();
  }
  expect(found).toEqual(expected);
}
