import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchFleet, startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import type { Member } from '../support/fleet.ts';
import { runVarve } from '../support/run-varve.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const space = `fleet_hand_over_${process.pid}`;
const skip = takesMinutes('hand-overs on Elasticsearch in a fleet');

describe('two varve project on Elasticsearch', {
  ...(await needsElasticsearch(skip)),
  timeout: 400_000,
}, () => {
  let fleet: ElasticsearchFleet;
  let url: string;

  beforeAll(async () => {
    url = await elasticsearchUrl();
    fleet = await startElasticsearchFleet({ url, space, projects: 2, apis: 0, serves: 0 });
  }, 180_000);
  afterAll(() => fleet?.dispose());

  const rebuild = ({ data }: Member) =>
    runVarve([
      ...['rebuild', '--type', 'tag', '--data', data, '--event-store', fleet.eventStore],
      ...['--read-index', url, '--space', space],
    ]);

  it('a rebuild on the directory of the leader succeeds each time, and the leader stays the same process', async () => {
    const leader = await fleet.leader();
    const { call } = createApiClient(leader.server().url);
    for (let i = 0; i < 20; i++)
      expect((await call('POST', '/api/tags', { data: { key: `tag ${i}` } })).status).toBe(201);
    const ends: string[] = [];
    for (let round = 0; round < 8; round++) {
      const { code, stdout, stderr } = await rebuild(leader);
      ends.push(code === 0 ? 'live' : (stdout + stderr).trim());
      expect((await fleet.leader()).name).toBe(leader.name);
    }
    expect(ends).toEqual(ends.map(() => 'live'));
  });
});
