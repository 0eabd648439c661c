import { afterEach, describe, expect, test } from 'vitest';
import { collect, newEvents, readAll, readStream } from '../contract/event-store-fixtures.ts';
import { askNode, requestTo } from '../support/kurrentdb/ask-double.ts';
import { type KurrentDbWorld, startWorld, streamOf } from './kurrentdb-world.ts';

let world: KurrentDbWorld;
afterEach(() => world.end());

describe.each(['24.2', '26.1'] as const)('on version %s', (server) => {
  test('no call accepts compressed messages', async () => {
    world = await startWorld({ server });
    const { store, double } = world;
    const stream = streamOf();
    const subscriber = collect(store);
    await store.append(stream, 'none', newEvents(3));
    await subscriber.until(3);
    expect(await readStream(store, stream)).toHaveLength(3);
    expect(await readAll(store)).toHaveLength(3);
    await store.check?.();
    expect([...double.observed.encodings]).toEqual(['identity']);
  });

  test('a caller that accepts compressed messages gets them from 26.1', async () => {
    world = await startWorld({ server });
    await world.store.append(streamOf(), 'none', newEvents(1));
    const ask = askNode(world.double.port);
    try {
      const got = await ask.read(requestTo('varve.').page({ from: 'start', count: 10 }));
      expect(JSON.stringify(got)).toContain('event');
      expect([...world.double.observed.encodings].at(-1)).toContain('gzip');
    } finally {
      ask.close();
    }
  });
});
