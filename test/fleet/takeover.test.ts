import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiClient } from '../support/api-client.ts';
import { type Member, startFleet, type TestFleet } from '../support/fleet.ts';
import { lockLog } from '../support/log-lock.ts';
import { count, takesMinutes } from '../support/takes-minutes.ts';
import { describeTakeover } from './describe-takeover.ts';

describeTakeover('two servers on one SQLite log', count(2, 1), async () => ({ close: () => {} }));

describe('an SQLite log that is locked longer than any timeout', () => {
  let fleet: TestFleet;
  beforeAll(async () => {
    fleet = await startFleet({ size: 2 });
  });
  afterAll(() => fleet.dispose());

  it(
    'refuses writes while it is locked, ends no process, and has a leader again when it is free',
    takesMinutes('a locked log'),
    async () => {
      const leader = await fleet.leader();
      const other = fleet.members.find((member) => member !== leader) as Member;
      const create = (key: string) =>
        createApiClient(other.server().url).call<{ documentId: string }>('POST', '/api/tags', {
          data: { key },
        });
      // This write ensures that the other process knows the leader.
      expect((await create('before')).status).toBe(201);

      let unlock = lockLog(fleet.eventStore);
      // The leader may commit something at this moment.
      for (; unlock === undefined; unlock = lockLog(fleet.eventStore)) await delay(1);
      expect(await create('meanwhile')).toMatchObject({
        status: 503,
        error: { name: 'ServiceUnavailableError', message: 'The event log cannot be written now' },
      });
      await leader.end('SIGKILL');
      while (!other.server().output().includes('the lease could not be claimed')) await delay(50);
      unlock();

      await fleet.becomesLeader(other);
      expect((await create('after')).status).toBe(201);
      const found = await createApiClient(other.server().url).call<{ key: string }[]>(
        'GET',
        '/api/tags?sort=key&fields=key',
      );
      expect(found.data.map(({ key }) => key)).toEqual(['after', 'before']);
    },
  );
});
