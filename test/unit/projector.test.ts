import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ContentGraph, openContentGraph } from '../../projections/graph/content-graph.ts';
import {
  catchUp,
  catchUpOrThrow,
  loadReadIndex,
  type Projector,
  startProjector,
} from '../../projections/graph/projector.ts';
import { createTypesEnd } from '../../services/content-types/types-end.ts';
import type { VarveEvent } from '../../shared/document/events.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { createEffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { MATCH_ALL } from '../../shared/read-index/bool-query.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { changed, created, DEFINITIONS, published, uid } from './graph-fixture.ts';

let folder: string;
let eventStore: EventStore;
let graph: ContentGraph;
let readIndex: ReadIndex;
let projector: Projector;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'varve-projector-'));
  eventStore = openSqliteEventStore(path.join(folder, 'events.db'), { space: 'varve' });
  for (const event of DEFINITIONS) await append(event);
  await open();
});

afterEach(async () => {
  await close();
  await eventStore.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(): Promise<void> {
  graph = openContentGraph(path.join(folder, 'graph.db'));
  await catchUp(eventStore, graph);
  readIndex = createEmbeddedIndex({ registry: graph.registry() });
  await loadReadIndex(graph, readIndex);
  projector = startProjector({ eventStore, graph, readIndex });
}

async function close(): Promise<void> {
  await projector.close();
  await readIndex.close();
  graph.close();
}

async function append(event: VarveEvent): Promise<bigint> {
  const stream = 'uid' in event.data ? `varve.type-${event.data.uid}` : `varve.doc-${event.data.documentId}`;
  const metadata = { schemaVersion: 1, at: '2024-01-01T00:00:00.000Z', epoch: 0 };
  const result = await eventStore.append(stream, 'any', [{ id: randomUUID(), ...event, metadata }]);
  if (result.kind !== 'appended') throw new Error('nobody else writes');
  return result.position;
}

async function sources(type: string, world: 'draft' | 'published'): Promise<unknown[]> {
  const request = {
    type: uid(type),
    world,
    query: MATCH_ALL,
    sort: [],
    from: 0,
    size: 100,
    withTotal: false,
  };
  const { hits } = await readIndex.search(request);
  return hits.sources.map((source) => JSON.parse(Buffer.from(source).toString()));
}

describe('the projector', () => {
  it('shows an event in the index when its position is applied, to every waiting caller', async () => {
    const position = await append(created('restaurant', 'r1', { values: { name: 'A' } }));
    await Promise.all([projector.applied(position), projector.applied(position), projector.applied(1n)]);
    expect(await sources('restaurant', 'draft')).toMatchObject([{ id: 1, documentId: 'r1', name: 'A' }]);
    expect(await sources('restaurant', 'published')).toEqual([]);
    expect(graph.position()).toBe(position);
  });

  it('brings an index up to the position of a graph that has no rows', () => {
    expect(readIndex.position()).toBe(graph.position());
    expect(graph.position()).toBe(BigInt(DEFINITIONS.length));
  });

  it('continues at its checkpoint after a restart, and rebuilds the same from a deleted graph', async () => {
    await projector.applied(await append(created('restaurant', 'r1', { values: { name: 'A' } })));
    await append(published('restaurant', 'r1'));
    await close();
    await append(changed('restaurant', 'r1', { values: { name: 'B' } }));
    await open();
    const before = [await sources('restaurant', 'draft'), await sources('restaurant', 'published')];
    expect(before).toMatchObject([[{ id: 1, name: 'B' }], [{ id: 2, name: 'A' }]]);
    await close();
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(path.join(folder, `graph.db${suffix}`), { force: true });
    await open();
    expect([await sources('restaurant', 'draft'), await sources('restaurant', 'published')]).toEqual(before);
  });

  describe('at an event of a newer release', () => {
    const newer = async () => {
      const metadata = { schemaVersion: 3, at: '2024-01-01T00:00:00.000Z', epoch: 0 };
      const [first, last] = [
        changed('restaurant', 'r1', { values: { name: 'B' } }),
        published('restaurant', 'r1'),
      ];
      const events = [first, last].map((event, n) => ({
        ...{ id: randomUUID(), ...event },
        metadata: { ...metadata, schemaVersion: n === 0 ? 3 : 2 },
      }));
      await eventStore.append('varve.doc-r1', 'any', events);
    };
    const reopen = async (decode?: typeof upcast) => {
      await close();
      await eventStore.close();
      const options = { space: 'varve', ...(decode && { decode }) };
      eventStore = openSqliteEventStore(path.join(folder, 'events.db'), options);
      await open();
    };

    it('stops before it, also in the middle of a batch, and continues as soon as the program knows it', async () => {
      await reopen(upcast);
      const position = await append(created('restaurant', 'r1', { values: { name: 'A' } }));
      const stopped: StoredEvent[] = [];
      await projector.close();
      projector = startProjector({ eventStore, graph, readIndex, stopped: (event) => stopped.push(event) });
      await newer();
      await expect(projector.applied(position + 1n)).rejects.toThrow(
        /cannot read the event at position \d+ .*version 3, and this program knows versions up to 2/,
      );
      expect(stopped).toMatchObject([{ position: position + 1n, unreadable: { kind: 'newer-version' } }]);
      expect(await sources('restaurant', 'draft')).toMatchObject([{ name: 'A' }]);
      expect(graph.position()).toBe(position);
      // The projector stops at the same event after a restart.
      await reopen(upcast);
      await expect(projector.applied(position + 2n)).rejects.toThrow(/version 3/);
      expect(graph.position()).toBe(position);
      // A newer program knows the event.
      await reopen();
      await projector.applied(position + 2n);
      expect(await sources('restaurant', 'published')).toMatchObject([{ name: 'B' }]);
    });

    it('stops before definitions of the next process, and is complete until content follows them', async () => {
      const written = await append(created('restaurant', 'r1', { values: { name: 'A' } }));
      const end = createTypesEnd(createEffectiveEvents(eventStore, 'varve'));
      await projector.close();
      projector = startProjector({
        eventStore,
        graph,
        readIndex,
        endsBefore: end.isBehind,
        stopped: end.reached,
      });
      const [first, second] = DEFINITIONS as [VarveEvent, VarveEvent];
      const own = await append(first);
      await projector.applied(own);
      end.begin();
      const position = await append(second);
      await expect(projector.applied(position)).rejects.toThrow();
      expect(graph.position()).toBe(own);
      expect(await end.showsAll(written)).toBe(true);
      expect(await end.showsAll(await append(first))).toBe(true);
      const metadata = { schemaVersion: 1, at: '2024-01-01T00:00:00.000Z', epoch: 0 };
      for (const type of ['process-started', 'leader-elected']) {
        const event = { id: randomUUID(), type, data: {}, metadata };
        const stored = await eventStore.append('varve.process', 'any', [event]);
        expect(await end.showsAll(stored.kind === 'appended' ? stored.position : 0n)).toBe(true);
      }
      const last = await append(created('restaurant', 'r2', { values: { name: 'B' } }));
      expect(await end.showsAll(last - 1n)).toBe(true);
      expect(await end.showsAll(last)).toBe(false);
    });

    it('a graph that is made for a comparison is refused', async () => {
      await append(created('restaurant', 'r1', { values: { name: 'A' } }));
      await newer();
      await reopen(upcast);
      const scratch = openContentGraph(path.join(folder, 'scratch.db'));
      await expect(catchUpOrThrow(eventStore, scratch)).rejects.toThrow(/cannot read the event/);
      scratch.close();
    });
  });

  it('skips an event that is not content, also the last one of the log, and resolves waits for its position', async () => {
    const foreign = [{ id: randomUUID(), type: 'leader-elected', data: { epoch: 9 }, metadata: {} as never }];
    for (const after of [created('restaurant', 'r1', { values: { name: 'A' } }), undefined]) {
      const result = await eventStore.append(
        'varve.note-1',
        'any',
        foreign.map((event) => ({ ...event, id: randomUUID() })),
      );
      if (after !== undefined) await append(after);
      await projector.applied(result.kind === 'appended' ? result.position : 0n);
    }
    expect(await sources('restaurant', 'draft')).toMatchObject([{ name: 'A' }]);
    expect(graph.foreignEvents().count).toBe(2);
    await close();
    await open();
    const { count, first, last } = graph.foreignEvents();
    expect([count, last - first]).toEqual([2, 2n]);
  });

  it('skips events that do not belong to its documents', async () => {
    const lease = { type: 'lease-claimed', data: { uid: 'x' } } as unknown as VarveEvent;
    const position = await append(lease);
    await projector.applied(position);
    expect(graph.position()).toBe(position);
  });

  it('fails at an event that cannot be applied', async () => {
    const position = await append(changed('restaurant', 'nobody', { values: { name: 'A' } }));
    await expect(projector.applied(position)).rejects.toThrow('the entry to change does not exist');
    await expect(projector.done).rejects.toThrow('the entry to change does not exist');
    await expect(projector.applied(position + 1n)).rejects.toThrow('the entry to change does not exist');
  });

  it('rejects waits when it is closed', async () => {
    const waiting = projector.applied(1000n);
    waiting.catch(() => {});
    await projector.close();
    await expect(waiting).rejects.toThrow('the projector was closed');
  });
});
