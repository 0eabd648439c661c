import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openContentGraph } from '../../projections/graph/content-graph.ts';
import { createCommandHandler } from '../../services/command/command-handler.ts';
import { randomDocumentId } from '../../services/command/document-id.ts';
import type { CommandEnvironment } from '../../services/command/environment.ts';
import { createImportWriter } from '../../services/command/import-writer.ts';
import { createImporter } from '../../services/command/importer.ts';
import type { ContentGraphReader } from '../../shared/document/entry.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { createLocks } from '../../shared/locks.ts';
import { type CommandWorld, newCommandWorld, schemasOf } from './command-world.ts';

const TYPE = 'api::page.page';
const SCHEMAS = schemasOf({ page: { attributes: { n: { type: 'integer' }, slug: { type: 'uid' } } } });

const newWorld = () => newCommandWorld(SCHEMAS);

function environmentOf(world: CommandWorld): CommandEnvironment {
  return {
    eventStore: world.store,
    graph: world.graph.reader,
    applied: world.applied,
    registry: () => world.registry,
    defaultLocale: 'en',
    space: 'varve',
    lead: () => ({ epoch: 0 }),
    now: () => new Date(),
    newDocumentId: randomDocumentId,
    newEventId: randomUUID,
  };
}

/** Creates a second handler on the world's log and graph. */
function handlerOn(world: CommandWorld, more: Partial<CommandEnvironment>) {
  return createCommandHandler({ ...environmentOf(world), ...more });
}

describe('locks', () => {
  test('for one key are given in the order of the requests, and for other keys immediately', async () => {
    const locks = createLocks();
    const order: string[] = [];
    const take = async (name: string, keys: readonly string[]) => {
      const release = await locks.acquire(keys);
      order.push(`${name} has it`);
      return release;
    };
    const first = await take('first', ['b', 'a', 'a']);
    const second = take('second', ['a']);
    const third = take('third', ['a', 'c']);
    const other = await take('other', ['d']);
    first();
    (await second)();
    (await third)();
    other();
    expect(order).toEqual(['first has it', 'other has it', 'second has it', 'third has it']);
  });
});

describe('a command whose events are stored but not applied in time', () => {
  test('is answered as not applied, and the next one on the document waits for it', async () => {
    const world = await newWorld();
    const gate = Promise.withResolvers<void>();
    let late = true;
    const applied = async (position: bigint) => {
      if (late) await gate.promise;
      await world.applied(position);
    };
    const handler = handlerOn(world, { applied, appliedTimeoutMs: 1 });
    const created = await handler.execute({ kind: 'create', type: TYPE, body: { data: { n: 1 } } });
    expect(created).toMatchObject({ applied: false, changed: true });
    const { documentId } = created;
    let isDone = false;
    const edit = handler
      .execute({ kind: 'update', type: TYPE, documentId, body: { data: { n: 2 } } })
      .finally(() => {
        isDone = true;
      });
    await nextTurn();
    expect(isDone).toBe(false);
    late = false;
    gate.resolve();
    await edit;
    expect(world.graph.reader.streamRevision(TYPE, documentId)).toBe(3n);
  });

  test('a command that finds nothing to write waits too: the earlier write may not be visible yet', async () => {
    const world = await newWorld();
    const command = { kind: 'create', type: TYPE, body: { data: { n: 1 } } } as const;
    const created = await handlerOn(world, {}).execute({ ...command, identity: { id: 'one' } });
    const asked: bigint[] = [];
    const never = handlerOn(world, {
      visible(position) {
        asked.push(position);
        return new Promise(() => {});
      },
      appliedTimeoutMs: 1,
    });
    const again = await never.execute({ ...command, identity: { id: 'one' } });
    expect(again).toMatchObject({
      documentId: created.documentId,
      position: created.position,
      applied: false,
      changed: false,
    });
    expect(asked).toEqual([created.position]);
  });

  test('is answered with the reason: not shown yet, or refused by the read index, also if nothing was to be written', async () => {
    const world = await newWorld();
    const create = { kind: 'create', type: TYPE, body: { data: { n: 1 } } } as const;
    const late = handlerOn(world, { visible: () => new Promise(() => {}), appliedTimeoutMs: 1 });
    expect(await late.execute(create)).toMatchObject({ applied: false, unshown: { code: 'not-shown-yet' } });
    const refused = new Map<string, string>();
    const shown = handlerOn(world, {
      refusal: (type, documentId) => (type === TYPE ? refused.get(documentId) : undefined),
    });
    const { documentId, ...created } = await shown.execute(create);
    expect(created).toMatchObject({ applied: true });
    expect(created.unshown).toBeUndefined();
    refused.set(documentId, 'too large');
    for (const changed of [true, false]) {
      const update = { kind: 'update', type: TYPE, documentId, body: { data: { n: 2 } } } as const;
      // The second command is a repetition of the first one.
      expect(await shown.execute({ ...update, identity: { id: 'two' } })).toMatchObject({
        applied: false,
        changed,
        unshown: { code: 'document-refused', message: 'too large' },
      });
    }
  });

  test('is answered as not applied when the projector has stopped, and later commands are refused', async () => {
    const world = await newWorld();
    const handler = handlerOn(world, { applied: () => Promise.reject(new Error('stopped')) });
    const create = { kind: 'create', type: TYPE, body: { data: {} } } as const;
    expect(await handler.execute(create)).toMatchObject({ applied: false });
    await expect(handler.execute(create)).rejects.toMatchObject({ code: 'graph-stopped' });
  });
});

describe('an append whose answer is lost', () => {
  const page = { kind: 'create', type: TYPE, body: { data: { n: 1, slug: 'one' } } } as const;

  /** Creates a handler whose next append is stored without an answer. Its graph applies the log when `show` is called. */
  async function worldThatLosesAnAnswer() {
    const world = await newWorld();
    const gate = Promise.withResolvers<void>();
    const graph = openContentGraph(':memory:');
    const subscription = world.store.subscribe(0n, async (events) => {
      if (events.some(({ type }) => type === 'entry-created')) await gate.promise;
      graph.apply(events);
    });
    onTestFinished(async () => {
      gate.resolve();
      await subscription.close();
      graph.close();
    });
    const applied = async (position: bigint) => {
      while (graph.position() < position) await nextTurn();
    };
    await applied(await world.store.lastPosition());
    let isLost = true;
    const append: EventStore['append'] = async (...given) => {
      const result = await world.store.append(...given);
      if (!isLost) return result;
      isLost = false;
      throw new Error('the connection was lost');
    };
    const environment = { ...environmentOf(world), applied, eventStore: { ...world.store, append } };
    return { world, show: gate.resolve, environment: { ...environment, graph: graph.reader } };
  }

  test('keeps its unique values: a later command sees it, although the graph was late', async () => {
    const { environment, show } = await worldThatLosesAnAnswer();
    const handler = createCommandHandler(environment);
    await expect(handler.execute(page)).rejects.toMatchObject({ code: 'log-unavailable' });
    const again = handler.execute(page);
    setImmediate(show);
    await expect(again).rejects.toMatchObject({ code: 'invalid-body' });
  });

  test('is found by a repetition, which its own entry does not refuse', async () => {
    const { environment, show } = await worldThatLosesAnAnswer();
    const handler = createCommandHandler(environment);
    const repeated = { ...page, identity: { id: 'once', request: 'digest' } };
    await expect(handler.execute(repeated)).rejects.toMatchObject({ code: 'log-unavailable' });
    const again = handler.execute(repeated);
    setImmediate(show);
    expect(await again).toMatchObject({ changed: false, applied: true });
  });

  test('keeps its unique values in an import too', async () => {
    const { world, environment, show } = await worldThatLosesAnAnswer();
    await expect(createCommandHandler(environment).execute(page)).rejects.toMatchObject({
      code: 'log-unavailable',
    });
    const importer = createImporter({
      ...{
        registry: world.registry,
        graph: environment.graph,
        defaultLocale: 'en',
        space: 'varve',
        epoch: 0,
      },
      ...{ at: '2024-01-01T00:00:00.000Z', known: () => undefined },
    });
    const line = { type: 'page', key: 'two', state: 'published', data: { n: 2, slug: 'one' } };
    const document = await importer.importLine(line);
    if (document.kind === 'refused') throw new Error(document.reasons.join());
    const written = createImportWriter(environment, createLocks()).write(document);
    setImmediate(show);
    expect(await written).toEqual(['slug: This attribute must be unique']);
  });
});

describe('a stream to which others keep writing', () => {
  test('answers 409 in the end', async () => {
    const world = await newWorld();
    const conflicting: EventStore = {
      ...world.store,
      append: async () => ({ kind: 'conflict', actual: 9n }),
    };
    const handler = handlerOn(world, { eventStore: conflicting });
    const create = { kind: 'create', type: TYPE, body: { data: {} } } as const;
    await expect(handler.execute(create)).rejects.toMatchObject({ code: 'document-contended' });
    // Nothing stays locked.
    expect(await handlerOn(world, {}).execute(create)).toMatchObject({ changed: true });
  });
});

describe('a document with 20,000 edits', () => {
  test('a write costs the same as for a new document: the same queries of the graph, no read of the log', async () => {
    const world = await newWorld();
    let questions = 0;
    let rows = 0;
    const counted = Object.fromEntries(
      Object.entries(world.graph.reader).map(([name, ask]) => [
        name,
        (...args: unknown[]) => {
          const answer = (ask as (...args: unknown[]) => unknown)(...args);
          questions += 1;
          rows += Array.isArray(answer) ? answer.length : 1;
          return answer;
        },
      ]),
    ) as ContentGraphReader;
    const noRead = () => {
      throw new Error('the log was read');
    };
    const eventStore: EventStore = { ...world.store, readStream: noRead, readAll: noRead };
    const handler = handlerOn(world, { graph: counted, eventStore });
    const { documentId } = await handler.execute({
      kind: 'create',
      type: TYPE,
      body: { data: { n: 0, slug: 's' } },
    });
    const costOf = async (n: number) => {
      questions = 0;
      rows = 0;
      await handler.execute({ kind: 'update', type: TYPE, documentId, body: { data: { n } } });
      return { questions, rows };
    };
    const atStart = await costOf(1);
    const stream = `varve.api__page_page-${documentId}`;
    const metadata = { schemaVersion: 1, at: '2024-01-01T00:00:00.000Z', epoch: 0 };
    for (let batch = 0; batch < 20; batch++) {
      const events = Array.from({ length: 1000 }, (_, n) => ({
        id: randomUUID(),
        type: 'entry-changed',
        data: { type: TYPE, documentId, locale: null, values: { n }, shared: [], relations: [] },
        metadata,
      }));
      const result = await world.store.append(stream, 'any', events);
      if (result.kind === 'appended') await world.applied(result.position);
    }
    expect(world.graph.reader.streamRevision(TYPE, documentId)).toBeGreaterThan(20_000n);
    expect(await costOf(2)).toEqual(atStart);
    expect(atStart.rows).toBeLessThan(10);
  }, 300_000);
});
