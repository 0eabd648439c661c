import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { inSpace } from '../support/kurrentdb/in-space.ts';
import { describeEventStore } from './event-store-contract.ts';

for (const threaded of [false, true]) {
  const createLog = async () => {
    const directory = await mkdtemp(join(tmpdir(), 'varve-log-'));
    const open = (space: string) => openSqliteEventStore(join(directory, 'log.db'), { space, threaded });
    return {
      open: async () => open('varve'),
      openNeighbour: async () => inSpace(open('neighbour'), 'neighbour'),
      remove: () => rm(directory, { recursive: true, force: true }),
    };
  };
  const name = threaded ? 'sqlite with a thread for commits, shared with another space' : 'sqlite';
  describeEventStore(name, createLog, {}, { neighbour: threaded });
}
