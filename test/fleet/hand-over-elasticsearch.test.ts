import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type ElasticsearchFleet, startElasticsearchFleet } from '../support/elasticsearch-fleet.ts';
import type { Member } from '../support/fleet.ts';
import { runVarve } from '../support/run-varve.ts';
import { startSampling } from '../support/sample-reads.ts';
import { spawnVarve } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

const space = `fleet_hand_over_${process.pid}`;
/** Older generations are removed after the hand-over, and again every 15 s. */
const WITHIN = { timeout: 60_000, interval: 500 };
const skip = takesMinutes('hand-overs on Elasticsearch in a fleet');

describe('two varve project on Elasticsearch', {
  ...(await needsElasticsearch(skip)),
  timeout: 400_000,
}, () => {
  let fleet: ElasticsearchFleet;
  let url: string;

  beforeAll(async () => {
    url = await elasticsearchUrl();
    fleet = await startElasticsearchFleet({ url, space, projects: 2, apis: 1, serves: 0 });
    const { call } = createApiClient((await fleet.leader()).server().url);
    for (let i = 0; i < 20; i++)
      expect((await call('POST', '/api/tags', { data: { key: `tag ${i}` } })).status).toBe(201);
  }, 180_000);
  afterAll(() => fleet?.dispose());

  const own = ({ data }: Member) => [
    ...['--data', data, '--event-store', fleet.eventStore],
    ...['--read-index', url, '--space', space],
  ];
  const rebuildTags = (of: Member) => ['rebuild', '--type', 'tag', ...own(of)];
  const operate = async (args: readonly string[]) => {
    const { code, stdout, stderr } = await runVarve(args);
    return code === 0 ? stdout.trim().split('\n').at(-1) : stderr.trim().split('\n').at(-1);
  };
  const otherThan = (one: Member) => fleet.projects.find((member) => member !== one) as Member;
  /** Names of the indices of tags that exist, by their role. */
  const tagIndices = async () => {
    const found = (await (await fetch(`${url}/${space}-*tag-*/_alias`)).json()) as Record<
      string,
      { readonly aliases: Record<string, unknown> }
    >;
    const roleOf = (aliases: readonly string[]) =>
      ['kept', 'dropped'].find((role) => aliases.includes(`${space}-${role}`)) ?? 'live';
    return Object.values(found)
      .map(({ aliases }) => roleOf(Object.keys(aliases)))
      .sort();
  };
  const shown = async () => {
    const { call } = createApiClient(fleet.apis[0]?.server().url ?? '');
    const { status, error, meta } = await call('GET', '/api/tags');
    return {
      status,
      error,
      total: (meta as { pagination?: { total: number } } | undefined)?.pagination?.total,
    };
  };

  it('a rebuild on the directory of the leader succeeds each time, and the leader stays the same process', async () => {
    const leader = await fleet.leader();
    for (let round = 0; round < 4; round++) {
      expect(await operate(rebuildTags(leader))).toContain('is live');
      expect((await fleet.leader()).name).toBe(leader.name);
    }
    await expect.poll(tagIndices, WITHIN).toEqual(['kept', 'kept', 'live', 'live']);
  });

  it('indices that cannot be removed at the hand-over are removed later', async () => {
    const block = (settings: object) =>
      fetch(`${url}/${space}-kept/_settings`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(settings),
      });
    expect((await block({ 'index.blocks.read_only': true })).status).toBe(200);
    expect(await operate(rebuildTags(await fleet.leader()))).toContain('is live');
    expect(await tagIndices()).toHaveLength(6);
    expect((await block({ 'index.blocks.read_only': null })).status).toBe(200);
    await expect.poll(tagIndices, WITHIN).toEqual(['kept', 'kept', 'live', 'live']);
  });

  it('a rebuild, a rollback and a drop can be asked of a standby', async () => {
    const standby = otherThan(await fleet.leader());
    expect(await operate(rebuildTags(standby))).toContain('is live');
    // A process may read by names that are some seconds old.
    const sampling = startSampling(fleet.apis[0] as Member, '/api/tags');
    expect(await operate(['rollback', ...own(standby)])).toContain('is live');
    await expect.poll(tagIndices, WITHIN).toEqual(['kept', 'kept', 'live', 'live']);
    expect(await operate(['drop', ...own(standby)])).toMatch(/is removed$/);
    expect(await tagIndices()).toEqual(['live', 'live']);
    const answers = await sampling.stop();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await operate(['rollback', ...own(standby)])).toContain('there is no kept generation');
    expect(await operate(['rebuild', '--cancel', ...own(standby)])).toContain('there is no rebuild');
    expect(await shown()).toEqual({ status: 200, error: undefined, total: 20 });
  });

  it('a rebuild that a standby was asked for is cancelled there', async () => {
    const leader = await fleet.leader();
    const running = spawnVarve([...rebuildTags(otherThan(leader)), '--max-rate', '2', '--json']);
    await expect.poll(() => running.output(), { timeout: 30_000 }).toContain('"phase":"replaying"');
    expect(await operate(['rebuild', '--cancel', ...own(otherThan(leader))])).toMatch(/cancelled/);
    expect((await running.exited).output).toContain('cancelled');
    expect(await tagIndices()).toEqual(['live', 'live']);
  });

  it('a rebuild continues in the next leader if the leader is killed, and nothing of the first attempt is left', async () => {
    const leader = await fleet.leader();
    const other = otherThan(leader);
    const running = spawnVarve([...rebuildTags(other), '--max-rate', '25', '--json']);
    await expect.poll(() => running.output(), { timeout: 60_000 }).toContain('"phase":"indexing"');
    await leader.end('SIGKILL');
    const { code, output } = await running.exited;
    expect({ code, output }).toMatchObject({ code: 0 });
    expect((await fleet.leader()).name).toBe(other.name);
    await leader.start();
    await expect.poll(tagIndices, { timeout: 60_000 }).toEqual(['kept', 'kept', 'live', 'live']);
    await delay(1_000);
    expect(await operate(rebuildTags(leader))).toContain('is live');
    expect(await shown()).toEqual({ status: 200, error: undefined, total: 20 });
  });

  it('a rollback after a change of the leader says what to do, and that works', async () => {
    const leader = await fleet.leader();
    const other = otherThan(leader);
    expect(await operate(rebuildTags(leader))).toContain('is live');
    await leader.end('SIGTERM');
    // It might be the leader again if it were started before.
    expect((await fleet.leader()).name).toBe(other.name);
    await leader.start();
    expect(await operate(['rollback', ...own(leader)])).toMatch(/no kept generation .*stop the leader/);
    await other.end('SIGTERM');
    expect((await fleet.leader()).name).toBe(leader.name);
    expect(await operate(['rollback', ...own(leader)])).toContain('is live');
    await other.start();
    expect(await shown()).toEqual({ status: 200, error: undefined, total: 20 });
  });

  it('a standby that gets SIGHUP says that it has to be restarted, and builds nothing', async () => {
    const standby = otherThan(await fleet.leader());
    process.kill(standby.server().supervisor, 'SIGHUP');
    await expect
      .poll(() => standby.server().output(), { timeout: 60_000 })
      .toContain('this process is a standby and cannot replace its program while it serves: restart it');
    expect(standby.server().output()).not.toContain('builds a new read model');
  });
});
