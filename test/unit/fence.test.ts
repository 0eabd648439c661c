import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { createCommandHandler } from '../../services/command/command-handler.ts';
import { randomDocumentId } from '../../services/command/document-id.ts';
import type { CommandEnvironment } from '../../services/command/environment.ts';
import { createImportWriter } from '../../services/command/import-writer.ts';
import { createImporter } from '../../services/command/importer.ts';
import { NotLeading } from '../../services/command/not-leading.ts';
import { appendDefinitions } from '../../services/content-types/append-definitions.ts';
import { claimLease, returnLease } from '../../services/fleet/claim-lease.ts';
import { countsByLease } from '../../services/fleet/counts-by-lease.ts';
import { readLease } from '../../services/fleet/lease-view.ts';
import type { AppendResult, EventStore } from '../../shared/event-store/event-store.ts';
import { type Lead, leadOf } from '../../shared/fleet/lease.ts';
import { createLocks } from '../../shared/locks.ts';
import { type CommandWorld, newCommandWorld, schemasOf, valuesOf } from './command-world.ts';

const TYPE = 'api::page.page';
const SCHEMAS = schemasOf({ page: { attributes: { n: { type: 'integer' } } } });

const newWorld = () => newCommandWorld(SCHEMAS);

async function claim(world: CommandWorld, owner: string): Promise<number> {
  const now = () => new Date().toISOString();
  const claimant = { log: world.store, space: 'varve', owner, address: 'http://127.0.0.1:9', now };
  const claimed = await claimLease(claimant, await readLease(world.store, 'varve'));
  if (claimed === undefined) throw new Error('somebody else claimed');
  await world.applied(claimed.position);
  return claimed.epoch;
}

/** Creates the write side of a process that assumes that it holds the lease of an epoch. The store checks no conditions. */
function leaderOf(world: CommandWorld, epoch: number, eventStore: EventStore = world.store) {
  return writerOf(world, { epoch }, eventStore);
}

function writerOf(world: CommandWorld, lead: Lead, eventStore: EventStore = world.store) {
  return createCommandHandler(environmentOf(world, lead, eventStore));
}

function environmentOf(world: CommandWorld, lead: Lead, eventStore = world.store): CommandEnvironment {
  return {
    eventStore,
    graph: world.graph.reader,
    applied: world.applied,
    registry: () => world.registry,
    defaultLocale: 'en',
    space: 'varve',
    lead: () => lead,
    counts: async (position, { epoch }) => world.graph.epochAt(position) === epoch,
    now: () => new Date(),
    newDocumentId: randomDocumentId,
    newEventId: randomUUID,
  };
}

const create = (n: number, id: string, request?: string) =>
  ({
    kind: 'create',
    type: TYPE,
    body: { data: { n } },
    identity: request === undefined ? { id } : { id, request },
  }) as const;

describe('a former leader, after another process claimed the lease', () => {
  test('changes nothing, gets an error, and the command counts once when the new leader repeats it', async () => {
    const world = await newWorld();
    const first = await claim(world, 'first');
    // The process pauses between its decision and its append, so the claim of another process comes before its events.
    const late: EventStore = {
      ...world.store,
      async append(stream, expected, events) {
        await claim(world, 'second');
        return world.store.append(stream, expected, events);
      },
    };
    await expect(leaderOf(world, first, late).execute(create(1, 'c-1'))).rejects.toThrow(NotLeading);
    expect(await world.store.lastPosition()).toBe(world.graph.position());

    const second = leaderOf(world, first + 1);
    const done = await second.execute(create(1, 'c-1'));
    expect(done.changed).toBe(true);
    expect(valuesOf(world, TYPE, done.documentId, 'published')).toEqual({ n: 1 });
    const again = await second.execute(create(1, 'c-1'));
    expect(again).toMatchObject({ documentId: done.documentId, position: done.position, changed: false });
  });

  test('is ignored by a graph that replays the log, for any size of batches', async () => {
    const world = await newWorld();
    const first = await claim(world, 'first');
    const { documentId } = await leaderOf(world, first).execute(create(1, 'c-1'));
    const second = await claim(world, 'second');
    const update = { kind: 'update', type: TYPE, documentId, body: { data: { n: 2 } } } as const;
    await expect(leaderOf(world, first).execute(update)).rejects.toThrow(NotLeading);
    await leaderOf(world, second).execute({ ...update, body: { data: { n: 3 } } });

    const folder = mkdtempSync(join(tmpdir(), 'varve-fence-'));
    for (const batchSize of [1, 2, 1_000]) {
      const file = join(folder, `graph-${batchSize}.db`);
      for await (const events of world.store.readAll(0n, { batchSize })) {
        // The graph is opened again between batches, so the state of the fence must be in its file.
        const graph = openContentGraph(file);
        graph.replay(events);
        graph.close();
      }
      const graph = openContentGraph(file);
      expect(graph.position()).toBe(world.graph.position());
      expect(graph.epochAt(graph.position() + 1n)).toBe(second);
      expect(graph.reader.entries(TYPE, documentId).map(({ values }) => values['n'])).toEqual([3, 3]);
      graph.close();
    }
    rmSync(folder, { recursive: true });
  });

  test('cannot change the content types', async () => {
    const world = await newWorld();
    const first = await claim(world, 'first');
    await claim(world, 'second');
    const before = world.graph.definition(TYPE);
    const data = { ...JSON.parse(String(before)), schema: null };
    const metadata = { schemaVersion: 1, at: new Date().toISOString(), epoch: first };
    const appended = await world.store.append(`varve.type-${TYPE}`, 'any', [
      { id: randomUUID(), type: 'content-type-defined', data, metadata },
    ]);
    if (appended.kind === 'appended') await world.applied(appended.position);
    expect(appended.kind).toBe('appended');
    expect(world.graph.definition(TYPE)).toBe(before);
  });
});

describe('a leader on a store that checks conditions', () => {
  const leadNow = async (world: CommandWorld) => leadOf('varve', await readLease(world.store, 'varve'));

  test('stores nothing after another process claimed the lease, and its command counts once when that process repeats it', async () => {
    const world = await newWorld();
    await claim(world, 'first');
    const first = await leadNow(world);
    const late: EventStore = {
      ...world.store,
      async append(...append) {
        await claim(world, 'second');
        return world.store.append(...append);
      },
    };
    await expect(writerOf(world, first, late).execute(create(1, 'c-1'))).rejects.toThrow(NotLeading);
    const types = [];
    for await (const events of world.store.readAll(0n)) types.push(...events.map(({ type }) => type));
    expect(types.slice(-2)).toEqual(['leader-elected', 'leader-elected']);

    const second = writerOf(world, await leadNow(world));
    expect((await second.execute(create(1, 'c-1'))).changed).toBe(true);
    expect((await second.execute(create(1, 'c-1'))).changed).toBe(false);
  });

  test('stores nothing after it stepped down', async () => {
    const world = await newWorld();
    await claim(world, 'first');
    const lead = await leadNow(world);
    const claimant = {
      log: world.store,
      space: 'varve',
      owner: 'first',
      address: '',
      now: () => '2026-01-01',
    };
    await returnLease(claimant, await readLease(world.store, 'varve'));
    const before = await world.store.lastPosition();
    await expect(writerOf(world, lead).execute(create(1, 'c-1'))).rejects.toThrow(NotLeading);
    expect(await world.store.lastPosition()).toBe(before);
  });

  test('cannot bring its content types into force after another process claimed the lease', async () => {
    const world = await newWorld();
    await claim(world, 'first');
    const lead = await leadNow(world);
    await claim(world, 'second');
    const before = await world.store.lastPosition();
    const definition = JSON.parse(String(world.graph.definition(TYPE)));
    await appendDefinitions(world.store, 'varve', [definition], {
      at: new Date().toISOString(),
      lead,
      owner: 'first',
    });
    expect(await world.store.lastPosition()).toBe(before);
  });

  test('writes no document of an import that began under an earlier lease', async () => {
    const world = await newWorld();
    const epoch = await claim(world, 'first');
    const importer = createImporter({
      ...{ registry: world.registry, graph: world.graph.reader, defaultLocale: 'en', space: 'varve', epoch },
      ...{ at: new Date().toISOString(), known: () => undefined },
    });
    const line = { type: 'page', key: 'a', state: 'published', data: { n: 1 } };
    const outcome = await importer.importLine(line);
    if (outcome.kind === 'refused') throw new Error(outcome.reasons.join());
    // The lease was lost and claimed again during the import.
    await claim(world, 'second');
    await claim(world, 'first');
    const lead = await leadNow(world);
    const environment = environmentOf(world, lead);
    const before = await world.store.lastPosition();
    await expect(createImportWriter(environment, createLocks()).write(outcome)).rejects.toThrow(NotLeading);
    expect(await world.store.lastPosition()).toBe(before);
  });
});

describe('a leader that is paused between its append and its answer', () => {
  test('acknowledges the write although another process claimed, since the events are before the claim', async () => {
    const world = await newWorld();
    await claim(world, 'first');
    const lead = leadOf('varve', await readLease(world.store, 'varve'));
    const late: EventStore = {
      ...world.store,
      async append(...append) {
        const result = await world.store.append(...append);
        const now = () => '2026-01-01T00:00:00.000Z';
        const claimant = { log: world.store, space: 'varve', owner: 'second', address: '', now };
        await claimLease(claimant, await readLease(world.store, 'varve'));
        return result;
      },
    };
    const writer = createCommandHandler({
      ...environmentOf(world, lead, late),
      // The former leader's graph applies nothing more within the time limit.
      applied: () => new Promise(() => {}),
      appliedTimeoutMs: 10,
      counts: (position, of) => countsByLease(world.store, position, of),
    });
    const answer = await writer.execute(create(1, 'c-1'));
    expect(answer).toMatchObject({ changed: true, applied: false });
    expect((await readLease(world.store, 'varve')).leader?.owner).toBe('second');
  });

  test('reports that the write may be stored if the log cannot be read', async () => {
    const world = await newWorld();
    await claim(world, 'first');
    const lead = leadOf('varve', await readLease(world.store, 'varve'));
    const writer = createCommandHandler({
      ...environmentOf(world, lead),
      counts: () => Promise.reject(new Error('no connection')),
    });
    await expect(writer.execute(create(1, 'c-1'))).rejects.toMatchObject({
      code: 'outcome-unknown',
      message: expect.stringContaining('may have been stored'),
    });
  });
});

describe('events that were stored before a claim', () => {
  test('count, even if the graph lags behind both, and later events do not count', async () => {
    const world = await newWorld();
    await claim(world, 'first');
    const lead = leadOf('varve', await readLease(world.store, 'varve'));
    const before = await world.store.lastPosition();
    expect(await countsByLease(world.store, before + 1n, lead)).toBe(true);
    // An event of another program is never a claim, whatever its type.
    const foreign = { id: randomUUID(), type: 'leader-elected', data: { epoch: 9 }, metadata: {} as never };
    await world.store.append('varve.lease', 'any', [foreign]);
    expect(await countsByLease(world.store, before + 2n, lead)).toBe(true);
    const metadata = { schemaVersion: 1, at: new Date().toISOString(), epoch: lead.epoch };
    const append = () =>
      world.store.append('varve.other-x', 'any', [{ id: randomUUID(), type: 'other', data: {}, metadata }]);
    const early = await append();
    const owners = ['second', 'third'];
    const claimant = { log: world.store, space: 'varve', address: '', now: () => metadata.at };
    for (const owner of owners)
      await claimLease({ ...claimant, owner }, await readLease(world.store, 'varve'));
    const late = await append();
    const positionOf = (result: AppendResult) => (result.kind === 'appended' ? result.position : -1n);
    expect(await countsByLease(world.store, positionOf(early), lead)).toBe(true);
    expect(await countsByLease(world.store, positionOf(late), lead)).toBe(false);
  });
});

describe('the lease', () => {
  test('is held by one of many that claim it at the same time, under the next epoch', async () => {
    const { store: log } = await newWorld();
    const now = () => new Date().toISOString();
    const lease = await readLease(log, 'varve');
    const claims = await Promise.all(
      ['a', 'b', 'c', 'd'].map((owner) =>
        claimLease({ log, space: 'varve', owner, address: 'http://127.0.0.1:9', now }, lease),
      ),
    );
    expect(claims.filter((each) => each !== undefined)).toMatchObject([{ epoch: 1 }]);
    expect((await readLease(log, 'varve')).leader?.owner).toBe('abcd'[claims.findIndex((each) => each)]);
  });

  test('is free after its holder stepped down, and not after another process did', async () => {
    const { store: log } = await newWorld();
    const now = () => new Date().toISOString();
    const first = { log, space: 'varve', owner: 'first', address: 'http://127.0.0.1:9', now };
    await claimLease(first, await readLease(log, 'varve'));
    const held = await readLease(log, 'varve');
    await claimLease({ ...first, owner: 'second' }, held);
    await returnLease(first, held);
    const taken = await readLease(log, 'varve');
    expect(taken.leader?.owner).toBe('second');
    await returnLease({ ...first, owner: 'second' }, taken);
    expect(await readLease(log, 'varve')).toMatchObject({ epoch: 2, leader: undefined });
  });
});

describe('a repeated command', () => {
  test('is refused as another request of the same identity', async () => {
    const world = await newWorld();
    const leader = leaderOf(world, await claim(world, 'first'));
    await leader.execute(create(1, 'key', 'request a'));
    await expect(leader.execute(create(1, 'key', 'request b'))).rejects.toMatchObject({
      code: 'idempotency-key-reused',
    });
    expect((await leader.execute(create(1, 'key', 'request a'))).changed).toBe(false);
  });

  test('is forgotten after its time: a day for clients, ten minutes for forwarded commands', async () => {
    const world = await newWorld();
    const epoch = await claim(world, 'first');
    const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes)).toISOString();
    const note = (n: number, minutes: number, command: { id: string; request?: string }) => {
      const documentId = `document${n}`.padEnd(24, 'x');
      const data = { type: TYPE, documentId, locale: null, values: { n }, shared: [], relations: [] };
      const metadata = { schemaVersion: 1, at: at(minutes), epoch, command };
      return world.append(`varve.api_page_page-${documentId}`, [
        { id: randomUUID(), type: 'entry-created', data, metadata },
      ]);
    };
    await note(0, 0, { id: 'client', request: 'a' });
    await note(1, 0, { id: 'sent on' });
    const known = (id: string) => world.graph.reader.command(id) !== undefined;
    for (let n = 2; n < 1_002; n++) await note(n, n, { id: `later ${n}` });
    expect([known('client'), known('sent on'), known('later 999')]).toEqual([true, false, true]);
    for (let n = 1_002; n < 2_002; n++) await note(n, n, { id: `later ${n}` });
    expect([known('client'), known('later 999'), known('later 2001')]).toEqual([false, false, true]);
  });
});
