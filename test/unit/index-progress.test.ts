import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { type ContentGraph, openContentGraph } from '../../projections/graph/content-graph.ts';
import { announceProgress } from '../../projections/index-writer/announce-progress.ts';
import { startIndexWriter } from '../../projections/index-writer/index-writer.ts';
import { watchProgress } from '../../projections/index-writer/watch-progress.ts';
import type { VarveEvent } from '../../shared/document/events.ts';
import { documentDependencies } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { IndexProgress, ProgressStore } from '../../shared/read-index/index-progress.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { createMemoryDocumentIndex } from '../support/memory-document-index.ts';
import { changed, connect, created, createLog, DEFINITIONS } from './graph-fixture.ts';

type MemoryProgress = ProgressStore & { readonly written: readonly IndexProgress[] };

function createMemoryProgress(): MemoryProgress {
  const written: IndexProgress[] = [];
  return {
    written,
    read: async () => written.at(-1),
    async write(progress) {
      written.push(progress);
    },
  };
}

/** Creates a log, and graphs of the leader and of standbys. */
function openFleet() {
  const folder = mkdtempSync(path.join(tmpdir(), 'varve-progress-'));
  const log = createLog();
  const graphs: ContentGraph[] = [];
  const history: ReturnType<typeof log.add>[number][] = [];
  const index = createMemoryDocumentIndex(({ type, key }, neighbours) => {
    const row = neighbours.row(type, key);
    return row === undefined ? undefined : Buffer.from(row.source).toString();
  });
  const store = createMemoryProgress();
  const closers: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    for (const close of closers) await close();
    for (const graph of graphs) graph.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    index,
    store,
    /** Opens a graph. `complete`: it records stale documents from the beginning, and none is stale. */
    openGraph(complete: boolean): ContentGraph {
      const file = path.join(folder, `graph-${graphs.length}.db`);
      const graph = openContentGraph(file, { dependencies: documentDependencies });
      graphs.push(graph);
      if (history.length > 0) graph.apply(history);
      if (complete) graph.stale?.markAll([]);
      return graph;
    },
    given(...events: readonly VarveEvent[]): void {
      const stored = log.add(...events);
      history.push(...stored);
      for (const graph of graphs) graph.apply(stored);
    },
    lead(graph: ContentGraph, epoch: number) {
      const writer = startIndexWriter({
        graph,
        index,
        report: () => {},
        progressed: () => announcer.advanced(),
      });
      const stale = graph.stale ?? expect.unreachable();
      const announcer = announceProgress({ store, writer, stale, epoch, report: () => {} });
      announcer.advanced();
      closers.push(writer.close, async () => void (await announcer.close()));
      return writer;
    },
    follow(graph: ContentGraph) {
      const follower = watchProgress({ store, stale: graph.stale });
      follower.wake();
      closers.push(follower.close);
      return follower;
    },
  };
}

const RESTAURANTS: readonly VarveEvent[] = [
  created('country', 'fr', { values: { name: 'France' } }),
  created('chef', 'anna', { values: { name: 'Anna' }, relations: [connect('country', 'fr')] }),
  created('restaurant', 'r1', { values: { name: 'One' }, relations: [connect('chef', 'anna')] }),
];

it('announces a position only once searches see every document that shows it', async () => {
  const fleet = openFleet();
  const leader = fleet.openGraph(true);
  fleet.given(...DEFINITIONS);
  const many = Array.from({ length: 1_100 }, (_, i) =>
    created('restaurant', `m${i}`, { values: { name: `m${i}` }, relations: [connect('chef', 'anna')] }),
  );
  fleet.given(...RESTAURANTS, ...many);
  const writer = fleet.lead(leader, 1);
  await writer.caughtUp();
  await expect.poll(() => fleet.store.written.at(-1)?.position).toBe(leader.position());
  const rested = leader.position();

  // The documents of one country's new name are delayed. A later edit is visible, but its position is not announced.
  const held = Promise.withResolvers<void>();
  fleet.index.behave({ before: (names) => (names.length > 100 ? held.promise : Promise.resolve()) });
  fleet.given(changed('country', 'fr', { values: { name: 'Frankreich' } }));
  writer.wake();
  fleet.given(changed('restaurant', 'r1', { values: { name: 'Eins' } }));
  writer.wake();
  await writer.visible(leader.position());
  expect(writer.shown()).toBe(rested);
  expect(fleet.store.written.map(({ position }) => position)).not.toContain(leader.position());
  held.resolve();
  await expect
    .poll(() => fleet.store.written.at(-1))
    .toMatchObject({ epoch: 1, position: leader.position() });
  const positions = fleet.store.written.map(({ position }) => position);
  expect(positions).toEqual([...positions].sort((a, b) => Number(a - b)));
});

it('makes every write of a batch wait for its documents, not only the last one', async () => {
  const fleet = openFleet();
  const leader = fleet.openGraph(true);
  fleet.given(...DEFINITIONS);
  const writer = fleet.lead(leader, 1);
  await writer.caughtUp();
  const before = leader.position();
  const held = Promise.withResolvers<void>();
  fleet.index.behave({ before: () => held.promise });
  fleet.given(...RESTAURANTS);
  writer.wake();
  let isVisible = false;
  const visible = writer.visible(before + 1n).then(() => {
    isVisible = true;
  });
  await nextTurn();
  expect(isVisible).toBe(false);
  expect(writer.shown()).toBe(before);
  held.resolve();
  await visible;
  expect([...fleet.index.visible.values()].filter((text) => text.includes('"France"'))).not.toEqual([]);
});

it('removes documents that the leader has written from the stale documents of a standby, which writes the rest when it is leader', async () => {
  const fleet = openFleet();
  const first = fleet.openGraph(true);
  const second = fleet.openGraph(true);
  fleet.given(...DEFINITIONS, ...RESTAURANTS);
  const leading = fleet.lead(first, 1);
  const follower = fleet.follow(second);
  expect(second.stale?.count().rows).toBeGreaterThan(3);
  expect(await follower.reached(second.position(), 60_000)).toBe(true);
  expect(second.stale?.count().rows).toBe(0);

  leading.stop();
  await leading.done;
  fleet.given(changed('restaurant', 'r1', { values: { name: 'Eins' } }));
  leading.wake();
  follower.wake();
  expect(await follower.reached(second.position(), 50)).toBe(false);
  expect(second.stale?.count().rows).toBeGreaterThan(0);
  await follower.close();

  const before = fleet.index.requests.length;
  const now = fleet.lead(second, 2);
  await now.caughtUp();
  const after = fleet.index.requests.slice(before).flat();
  expect(after.every((name) => name.startsWith('api::restaurant.restaurant'))).toBe(true);
  expect([...fleet.index.visible.values()].filter((text) => text.includes('"Eins"'))).toHaveLength(1);
  await expect
    .poll(() => fleet.store.written.at(-1))
    .toMatchObject({ epoch: 2, position: second.position() });
});

it('keeps the stale documents of types without which a position counts, so that the next leader writes them', async () => {
  const fleet = openFleet();
  const first = fleet.openGraph(true);
  const second = fleet.openGraph(true);
  const restaurants = 'api::restaurant.restaurant' as Uid;
  const isRestaurant = (name: string) => name.startsWith(restaurants);
  fleet.index.behave({
    outcome: (name) => (isRestaurant(name) ? { kind: 'again', reason: 'the index is blocked' } : undefined),
  });
  fleet.given(...DEFINITIONS, ...RESTAURANTS);
  first.stale?.disregard([restaurants]);
  const leading = fleet.lead(first, 1);
  const follower = fleet.follow(second);
  // This graph has applied changes without marks, and the documents of the type may lack them.
  const fresh = fleet.openGraph(false);
  expect(await follower.reached(second.position(), 60_000)).toBe(true);
  expect(fleet.store.written.at(-1)).toMatchObject({ without: [restaurants] });
  expect(second.stale?.isWaiting({ world: 'draft', key: keyOf(second, 'r1') })).toBe(true);
  expect(second.stale?.next('edits', 10, new Map()).map(({ type }) => type)).toEqual([restaurants]);
  for (const progress of fleet.store.written)
    fresh.stale?.settleUpTo({ ...progress, without: [restaurants, 'api::gone.gone' as Uid] });
  expect(fresh.stale?.isComplete()).toBe(false);

  leading.stop();
  await leading.done;
  await follower.close();
  fleet.index.behave({});
  await fleet.lead(second, 2).caughtUp();
  expect([...fleet.index.visible.values()].filter((text) => text.includes('"One"'))).toHaveLength(1);
  await expect.poll(() => fleet.store.written.at(-1)).toMatchObject({ epoch: 2, without: [] });
});

it('starts the stale documents of a new standby at the position that the leader has reached in its graph', async () => {
  const fleet = openFleet();
  const leader = fleet.openGraph(true);
  fleet.given(...DEFINITIONS, ...RESTAURANTS);
  const fresh = fleet.openGraph(false);
  expect(fresh.stale?.isComplete()).toBe(false);
  const follower = fleet.follow(fresh);
  expect(await follower.reached(fresh.position(), 50)).toBe(false);
  expect(fresh.stale?.isComplete()).toBe(false);
  fleet.lead(leader, 1);
  expect(await follower.reached(fresh.position(), 60_000)).toBe(true);
  expect(fresh.stale?.isComplete()).toBe(true);
  expect(fresh.stale?.count().rows).toBe(0);
});

it('announces parked documents to standbys, and lets an operator of the leader retry or drop them', async () => {
  const fleet = openFleet();
  const leader = fleet.openGraph(true);
  const standby = fleet.openGraph(true);
  fleet.given(...DEFINITIONS, ...RESTAURANTS);
  fleet.index.behave({
    outcome: (name) =>
      name.startsWith('api::restaurant') ? { kind: 'refused', reason: 'no such field' } : undefined,
  });
  const writer = fleet.lead(leader, 1);
  const follower = fleet.follow(standby);
  await writer.caughtUp();
  const stale = leader.stale ?? expect.unreachable();
  const { parked } = stale;
  const refused = parked.list();
  expect(refused).toMatchObject([
    { type: 'api::restaurant.restaurant', world: 'draft', documentId: 'r1', reason: 'no such field' },
  ]);
  expect(await follower.reached(standby.position(), 60_000)).toBe(true);
  expect(standby.stale?.parked.list()).toEqual(refused);

  // Elasticsearch still refuses the document. It is parked again, and the announced position does not fall.
  const shown = writer.shown();
  expect(parked.retry(refused)).toBe(1);
  expect([parked.list(), parked.all()]).toMatchObject([[], [{ documentId: 'r1' }]]);
  expect(writer.shown()).toBe(shown);
  writer.wake();
  await writer.caughtUp();
  expect(parked.list()).toMatchObject([{ documentId: 'r1' }]);

  // The next leader must know that the index still has the document's earlier state.
  expect(parked.drop(parked.list())).toBe(1);
  writer.wake();
  const known = async () => {
    await follower.look();
    return [standby.stale?.parked.list(), standby.stale?.parked.all()];
  };
  await expect.poll(known).toMatchObject([[], [{ documentId: 'r1' }]]);
  stale.remake(refused);
  writer.wake();
  await writer.caughtUp();
  expect(parked.list()).toMatchObject([{ documentId: 'r1' }]);

  fleet.index.behave({});
  expect(parked.retry(parked.list())).toBe(1);
  writer.wake();
  await writer.caughtUp();
  expect(parked.list()).toEqual([]);
  expect([...fleet.index.visible.values()].filter((text) => text.includes('"One"'))).toHaveLength(1);
  expect(parked.retry(refused)).toBe(0);
  expect(parked.drop(refused)).toBe(0);
});

it('completes the stale documents of a standby although the leader never catches up under steady writes', () => {
  const fleet = openFleet();
  fleet.given(...DEFINITIONS, ...RESTAURANTS);
  const standby = fleet.openGraph(false);
  const { stale } = standby;
  if (stale === undefined) return expect.unreachable();
  const began = standby.position();
  const edit = (name: string) => fleet.given(changed('restaurant', 'r1', { values: { name } }));
  const level = (position: bigint) => stale.settleUpTo({ position, parked: [] });
  level(began - 2n);
  expect(stale.isComplete()).toBe(false);
  edit('two');
  edit('three');
  // This position is behind the log, which is normal under steady writes.
  level(began);
  expect(stale.isComplete()).toBe(true);
  expect(stale.isWaiting({ world: 'draft', key: keyOf(standby, 'r1') })).toBe(true);
  edit('four');
  level(standby.position() - 1n);
  expect(stale.count().rows).toBeGreaterThan(0);
  level(standby.position());
  expect(stale.count().rows).toBe(0);
});

function keyOf(graph: ContentGraph, documentId: string): number {
  const inspection = graph.inspect();
  const row = inspection
    .rowsAfter(0, 1_000)
    .find(({ key }) => inspection.nameOf(key)?.documentId === documentId);
  return row?.key ?? expect.unreachable();
}
