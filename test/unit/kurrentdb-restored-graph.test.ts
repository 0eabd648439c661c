import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { nameSearched } from '../../projections/graph/name-searched.ts';
import { catchUp } from '../../projections/graph/projector.ts';
import { graphFile } from '../../projections/graph/store/generation-files.ts';
import { replaceUnusable } from '../../services/read-side/replace-unusable.ts';
import { openDeliveryStore } from '../../services/webhooks/delivery-store.ts';
import { created, DEFINITIONS } from './graph-fixture.ts';
import { type KurrentDbWorld, startWorld } from './kurrentdb-world.ts';

type World = KurrentDbWorld & { readonly data: string };

const newWorld = async (): Promise<World> => {
  const world = await startWorld();
  onTestFinished(world.end);
  const data = mkdtempSync(join(tmpdir(), 'varve-restored-'));
  onTestFinished(() => rmSync(data, { recursive: true }));
  for (const event of DEFINITIONS) await add(world, event);
  return { ...world, data };
};
const add = async (
  { open }: Pick<KurrentDbWorld, 'open'>,
  event: (typeof DEFINITIONS)[number] | ReturnType<typeof created>,
) => {
  const store = open();
  const { type, data } = event;
  const stream = 'uid' in data ? `varve.type-${data.uid}` : `varve.doc-${data.documentId}`;
  const metadata = { schemaVersion: 1, at: '2024-01-01T00:00:00.000Z', epoch: 0 };
  await store.append(stream, 'any', [{ id: randomUUID(), type, data, metadata }]);
};
const addTags = async (world: World, from: number, count: number) => {
  for (let n = from; n < from + count; n += 1) await add(world, created('tag', `t${n}`));
};

/** Stores a delivery for each position. The second one was sent. */
const addDeliveries = (data: string, positions: readonly bigint[]) => {
  const store = openDeliveryStore(data);
  const made = positions.map((position, n) => {
    const entry = { event: 'entry.create' as const, type: 'tag', documentId: `t${n}` };
    return { ...entry, id: `d${n}`, hook: 'h1', position, body: '{}' };
  });
  store.add(made, undefined, 0);
  store.attempted({ id: 'd1', seq: 2 }, { state: 'delivered', nextAt: 0, status: 200, error: null });
  store.close();
};

/** Applies the log as a process that starts does. Returns the graph's tags. */
const start = async ({ open, data }: World) => {
  const log = open();
  const reports: string[] = [];
  const history = await replaceUnusable({ data, log, report: (_, reason) => reports.push(reason) });
  const graph = openContentGraph(graphFile(data, 1));
  const from = graph.readFrom();
  await catchUp(log, graph);
  await nameSearched(log, graph);
  const tags = [...graph.readAll()].flatMap(({ rows }) =>
    rows.map(({ row }) => String(row?.fields['documentId'])),
  );
  const { position, readFrom } = { position: graph.position(), readFrom: graph.readFrom() };
  graph.close();
  return { history, reports, tags, position, from, readFrom };
};

test('a graph of an older copy of its log is made again, without what was delivered from lost events', async () => {
  const world = await newWorld();
  await addTags(world, 0, 2);
  const before = await start(world);
  const restore = world.double.log.backUp();
  await addTags(world, 2, 3);
  const lost = await start(world);
  writeFileSync(join(world.data, 'purges.db'), '');
  addDeliveries(world.data, [1n, lost.position - 1n, lost.position]);
  await world.double.restore(restore);
  const restored = await start(world);
  expect(restored.history).toBe('restored');
  const sentence = `the graph has applied another history up to position ${lost.position}, the log ends at position ${before.readFrom}, and both agree up to position`;
  const deliveries = `2 deliveries of webhooks were made from events after position`;
  const named = `1 were sent, and the others are dropped: entry.create of tag t1 to h1 (delivered), entry.create of tag t2 to h1 (waiting)`;
  expect(restored.reports).toEqual([expect.stringContaining(deliveries), expect.stringContaining(sentence)]);
  expect(restored.reports[0]).toContain(named);
  expect(restored.tags).toEqual(before.tags);
  for (const name of ['webhooks.db', 'purges.db']) expect(existsSync(join(world.data, name))).toBe(false);
  expect((await start(world)).history).toBe('same');
});

test('other events have taken the place of the lost ones', async () => {
  const world = await newWorld();
  await addTags(world, 0, 2);
  await start(world);
  const restore = world.double.log.backUp();
  await addTags(world, 2, 3);
  await start(world);
  await world.double.restore(() => {
    restore();
    world.double.log.addForeign(500, 97);
  });
  await addTags(world, 10, 2);
  const restored = await start(world);
  expect(restored.history).toBe('restored');
  expect(restored.tags).toEqual(['t0', 't1', 't10', 't11']);
});

test('a log that has nothing in common with the graph is refused', async () => {
  const world = await newWorld();
  const other = await newWorld();
  await addTags(world, 0, 2);
  await start(world);
  await expect(start({ ...other, data: world.data })).rejects.toThrow(/events are missing/);
});

test('a copy that lacks only records of others is read from its last event on', async () => {
  const world = await newWorld();
  await addTags(world, 0, 2);
  const restore = world.double.log.backUp();
  world.double.log.addForeign(1_000, 97);
  const before = await start(world);
  expect(before.readFrom).toBeGreaterThan(before.position);
  await world.double.restore(restore);
  await addTags(world, 2, 1);
  const restored = await start(world);
  expect(restored.history).toBe('same');
  expect(restored.tags).toEqual(['t0', 't1', 't2']);
});

test('events in the place of lost records of others are applied, also if the log has passed its old end', async () => {
  const world = await newWorld();
  await addTags(world, 0, 2);
  const restore = world.double.log.backUp();
  world.double.log.addForeign(1_000, 97);
  const before = await start(world);
  expect(before.readFrom).toBeGreaterThan(before.position);
  await world.double.restore(restore);
  await addTags(world, 2, 1);
  world.double.log.addForeign(2_000, 131);
  const restored = await start(world);
  expect(restored.history).toBe('same');
  expect(restored.position).toBeLessThan(before.readFrom);
  expect(restored.tags).toEqual(['t0', 't1', 't2']);
});

test('records of others that the log has still are not searched again', async () => {
  const world = await newWorld();
  await addTags(world, 0, 2);
  world.double.log.addForeign(1_000, 97);
  const before = await start(world);
  const again = await start(world);
  expect(again.from).toBe(before.readFrom);
  expect(again.from).toBeGreaterThan(again.position);
});
