import { afterEach, describe, expect, test } from 'vitest';
import { ids, newEvents, readAll } from '../contract/event-store-fixtures.ts';
import { createDoubleLog } from '../support/kurrentdb/double-log.ts';
import { type KurrentDbWorld, startWorld, streamOf } from './kurrentdb-world.ts';

let world: KurrentDbWorld;
afterEach(() => world.end());

const VERSIONS = [
  ['24.2', 'batchAppend'],
  ['26.1', 'appendRecords'],
] as const;

describe.each(VERSIONS)('a sequence on version %s is stored once, in its order', (server, call) => {
  const start = async () => {
    world = await startWorld({ server, log: createDoubleLog({ rememberedIds: 0 }) });
    const appends = Array.from({ length: 300 }, () => ({
      ...{ stream: streamOf(), expected: 'none' as const },
      events: newEvents(1),
    }));
    return { ...world, appends };
  };
  const isInOrder = async (appends: Awaited<ReturnType<typeof start>>['appends']) => {
    const stored = ids(await readAll(world.store));
    expect(stored).toEqual(appends.flatMap(({ events }) => ids(events)));
  };

  test('when the answers of its first part are lost', async () => {
    const { store, double, appends } = await start();
    double.faults.next(call, { kind: 'lose-answer' });
    expect(await store.appendInOrder(appends)).toHaveLength(300);
    await isInOrder(appends);
  });

  test('when its connection is cut while it is sent', async () => {
    const { store, double, appends } = await start();
    double.log.growth.once('written', () => {
      double.interrupt();
      setTimeout(() => double.resume(), 50);
    });
    expect(await store.appendInOrder(appends)).toHaveLength(300);
    await isInOrder(appends);
  });
});
