import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGenerationStore } from '../../projections/generations/generation-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { createApiClient } from '../support/api-client.ts';
import { foundSums, indexDigests, sumsOfLog } from '../support/document-sums.ts';
import { elasticsearchUrl, needsElasticsearch } from '../support/elasticsearch.ts';
import { type Member, startFleet, type TestFleet } from '../support/fleet.ts';
import { createKitchenTypes } from '../support/kitchen.ts';
import { removeIndices } from '../support/remove-indices.ts';
import { runVarve } from '../support/run-varve.ts';
import { spawnVarve, type VarveProcess } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A rebuild on Elasticsearch during which another process becomes leader. Only the leader's data directory can switch over. */
const space = `fleet_rebuild_${process.pid}`;
const contentTypes = createKitchenTypes();
const skip = takesMinutes('rebuilds on Elasticsearch in a fleet');

describe('two servers on Elasticsearch', { ...(await needsElasticsearch(skip)), timeout: 240_000 }, () => {
  let fleet: TestFleet;
  let url: string;
  const written: string[] = [];

  beforeAll(async () => {
    url = await elasticsearchUrl();
    fleet = await startFleet({
      ...{ size: 2, contentTypes },
      arguments: ['--read-index', url, '--space', space],
    });
  }, 180_000);
  afterAll(async () => {
    await fleet?.dispose();
    if (url !== undefined) await removeIndices(url, space);
  });

  const own = ({ data }: Member) => [
    ...['--data', data, '--event-store', fleet.eventStore],
    ...['--read-index', url, '--space', space],
  ];
  const otherThan = (one: Member) => fleet.members.find((member) => member !== one) as Member;
  const write = async (through: Member, count: number) => {
    const { call } = createApiClient(through.server().url);
    for (let i = 0; i < count; i++) {
      const name = `cook ${String(written.length).padStart(3, '0')}`;
      expect((await call('POST', '/api/cooks', { data: { name } })).status).toBe(201);
      written.push(name);
    }
  };
  const shown = async ({ server }: Member) => {
    const path = '/api/cooks?sort=name&fields=name&pagination[pageSize]=100';
    const { data } = await createApiClient(server().url).call<{ name: string }[]>('GET', path);
    return data.map(({ name }) => name);
  };
  const generations = ({ data }: Member) => {
    const store = openGenerationStore(data);
    try {
      return store.generations();
    } finally {
      store.close();
    }
  };
  const expectAllShown = async () => {
    for (const member of fleet.members)
      await expect.poll(() => shown(member), { timeout: 60_000 }).toEqual(written);
  };
  /** Starts a rebuild, and waits until it reports a phase. */
  const rebuild = async (of: Member, maxRate: number, phase: string): Promise<VarveProcess> => {
    const running = spawnVarve(['rebuild', '--graph', '--json', '--max-rate', String(maxRate), ...own(of)]);
    await new Promise<void>((resolve) => {
      running.child.stdout?.on('data', () => {
        if (running.output().includes(`"phase":"${phase}"`)) resolve();
      });
      void running.exited.then(() => resolve());
    });
    return running;
  };

  it('is refused without a server while another process is the leader, and leaves nothing after a kill', async () => {
    const leader = await fleet.leader();
    const other = otherThan(leader);
    await write(leader, 30);
    const running = await rebuild(leader, 15, 'replaying');
    await leader.end('SIGKILL');
    await fleet.becomesLeader(other);
    await write(other, 5);
    const { code, output } = await running.exited;
    expect({ code, output }).toMatchObject({
      code: 1,
      // If the machine is busy, the new leader has removed the indices before the command asks which process is the leader.
      output: expect.stringMatching(/the leader is another process|the indices of the rebuild were removed/),
    });
    expect(await shown(other)).toEqual(written);

    await leader.start();
    await expect.poll(() => generations(leader), { timeout: 60_000 }).toHaveLength(1);
    await other.end('SIGTERM');
    await fleet.becomesLeader(leader);
    await write(leader, 5);
    expect(await runVarve(['rebuild', '--graph', ...own(leader)])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('generation 3 is live'),
    });
    await other.start();
    await write(other, 5);
    await expectAllShown();
  });

  it('leaves both processes with the same content when the leader is paused during the switch', async () => {
    const leader = await fleet.leader();
    const other = otherThan(leader);
    const running = await rebuild(leader, 1_000, 'taking over');
    leader.server().signal('SIGSTOP');
    await fleet.becomesLeader(other);
    await write(other, 5);
    leader.server().signal('SIGCONT');
    const { code, output } = await running.exited;
    expect(output).toMatch(
      code === 0 ? /"phase":"done"/ : /the leader is another process|another process has become the leader/,
    );
    await write(other, 5);
    await expectAllShown();
    const log = openSqliteEventStore(fleet.eventStore.slice('sqlite:'.length), { space, decode: upcast });
    const clean = await sumsOfLog(log, space);
    await log.close();
    await expect
      .poll(async () => indexDigests(await foundSums(url, space)), { timeout: 60_000 })
      .toEqual(indexDigests(clean));
  });
});
