import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteEventStore } from '../../shared/event-store/sqlite-event-store.ts';
import { describeEventStore } from './event-store-contract.ts';

for (const threaded of [false, true]) {
  describeEventStore(threaded ? 'sqlite with a thread for commits' : 'sqlite', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'varve-log-'));
    return {
      open: async () => openSqliteEventStore(join(directory, 'log.db'), { threaded }),
      remove: () => rm(directory, { recursive: true, force: true }),
    };
  });
}
