import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { type Member, startFleet, type TestFleet } from '../support/fleet.ts';
import { startKurrentDbDouble } from '../support/kurrentdb/kurrentdb-double.ts';
import { runVarve } from '../support/run-varve.ts';
import { spawnVarve, type VarveProcess } from '../support/server.ts';
import { takesMinutes } from '../support/takes-minutes.ts';

/** A rebuild in a fleet during which another process becomes leader. */
type Log = {
  readonly eventStore?: string;
  readonly arguments?: readonly string[];
  readonly close: () => unknown;
};

const ACCESS_KEY = Buffer.alloc(32, 7).toString('base64url');
const LOGS: readonly (readonly [string, () => Promise<Log>])[] = [
  ['an SQLite file', async () => ({ close: () => {} })],
  [
    'the gRPC double of KurrentDB',
    async () => {
      const double = await startKurrentDbDouble();
      return { eventStore: double.url, arguments: ['--access-key', ACCESS_KEY], close: double.stop };
    },
  ],
];

describe.each(LOGS)(
  'two servers on %s',
  { ...takesMinutes('rebuilds in a fleet'), timeout: 240_000 },
  (_name, open) => {
    let log: Log;
    let fleet: TestFleet;
    const written: string[] = [];

    beforeAll(async () => {
      log = await open();
      const { close: _close, ...options } = log;
      fleet = await startFleet({ size: 2, ...options });
    }, 300_000);
    afterAll(async () => {
      await fleet.dispose();
      await log.close();
    });

    const write = async (through: Member, count: number) => {
      const { call } = createApiClient(through.server().url);
      for (let i = 0; i < count; i++) {
        const key = `tag-${String(written.length).padStart(3, '0')}`;
        expect((await call('POST', '/api/tags', { data: { key } })).status).toBe(201);
        written.push(key);
      }
    };
    const shown = async ({ server }: Member) => {
      const path = '/api/tags?sort=key&fields=key&pagination[pageSize]=100';
      const { data } = await createApiClient(server().url).call<{ key: string }[]>('GET', path);
      return data.map(({ key }) => key);
    };
    /** Starts a rebuild that takes some seconds, since it replays at most `maxRate` events a second. */
    const rebuild = async ({ data }: Member, maxRate: number): Promise<VarveProcess> => {
      const own = ['--data', data, '--event-store', fleet.eventStore];
      const running = spawnVarve(['rebuild', '--graph', '--json', '--max-rate', String(maxRate), ...own]);
      await new Promise((resolve) => running.child.stdout?.once('data', resolve));
      return running;
    };

    it('continues when the leader whose generation it makes is killed', async () => {
      const leader = await fleet.leader();
      const other = fleet.members.find((member) => member !== leader) as Member;
      await write(leader, 30);
      const running = await rebuild(leader, 10);
      await leader.end('SIGKILL');
      await write(other, 5);
      const { code, output } = await running.exited;
      expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('"phase":"done"') });
      await leader.start();
      await expect.poll(() => shown(leader)).toEqual(written);
      expect(await shown(other)).toEqual(written);
    });

    it('continues when its server becomes leader in the meantime, and a rollback shows later writes', async () => {
      const leader = await fleet.leader();
      const other = fleet.members.find((member) => member !== leader) as Member;
      const running = await rebuild(other, 15);
      await leader.end('SIGTERM');
      await fleet.becomesLeader(other);
      await write(other, 5);
      const { code, output } = await running.exited;
      expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('"phase":"done"') });
      await write(other, 5);
      expect(await shown(other)).toEqual(written);
      const own = ['--data', other.data, '--event-store', fleet.eventStore];
      expect(await runVarve(['rollback', ...own])).toMatchObject({ code: 0 });
      expect(await shown(other)).toEqual(written);
      await write(other, 1);
      expect(await shown(other)).toEqual(written);
    });
  },
);
