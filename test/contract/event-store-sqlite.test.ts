import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { StoredEvent } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { inSpace } from '../support/kurrentdb/in-space.ts';
import { takesMinutes } from '../support/takes-minutes.ts';
import { describeEventStore } from './event-store-contract.ts';
import { toNewStreams } from './event-store-contract-together.ts';
import { newEvents, newStream } from './event-store-fixtures.ts';

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
  // Servers have a thread for commits.
  describe('the port', threaded ? {} : takesMinutes('the contract of SQLite without a thread'), () => {
    describeEventStore(name, createLog, {}, { neighbour: threaded });
  });

  test.each([1, 64, 1_000])(
    `${name} delivers events that were stored together in one batch of %s`,
    async (batchSize) => {
      const log = await createLog();
      const [store, reader] = [await log.open(), await log.open()];
      try {
        await store.append(newStream(), 'none', newEvents(1));
        await store.appendTogether(toNewStreams(1_500));
        await store.append(newStream(), 'none', newEvents(1));
        const calls: StoredEvent[][] = [];
        const { promise, resolve } = Promise.withResolvers<void>();
        const { close, done } = reader.subscribe(
          0n,
          async (events) => {
            calls.push([...events]);
            if (calls.flat().length >= 1_502) resolve();
          },
          { batchSize },
        );
        await Promise.race([promise, done]);
        await close();
        const together = calls.map((events) =>
          events.filter(({ metadata }) => metadata.command !== undefined),
        );
        expect(together.map(({ length }) => length).filter((length) => length > 0)).toEqual([1_500]);
      } finally {
        await Promise.all([store.close(), reader.close()]);
        await log.remove();
      }
    },
  );
}
