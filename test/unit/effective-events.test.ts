import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ContentGraph, openContentGraph } from '../../projections/graph/content-graph.ts';
import { loadReadIndex } from '../../projections/graph/projector.ts';
import { createLogReader } from '../../services/changes/read-changes.ts';
import { visibleChange } from '../../services/changes/visible-change.ts';
import { createTypesEnd } from '../../services/content-types/types-end.ts';
import { typesInForce } from '../../services/content-types/types-in-force.ts';
import { readDocumentAt } from '../../services/history/document-at.ts';
import { trackLease } from '../../services/process/track-lease.ts';
import { changesContent } from '../../services/purge/missed-changes.ts';
import { exportLog } from '../../services/transfer/export-log.ts';
import { openDeliveryStore } from '../../services/webhooks/delivery-store.ts';
import type { TermOptions } from '../../services/webhooks/term-options.ts';
import { WEBHOOK_LIMITS } from '../../services/webhooks/webhook-limits.ts';
import { startTerm } from '../../services/webhooks/webhook-term.ts';
import { FULL_ACCESS } from '../../shared/access/rights.ts';
import { definitionStream, documentStream } from '../../shared/document/stream-name.ts';
import type { EventStore, StoredEvent } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { createEffectiveEvents } from '../../shared/fleet/effective-events.ts';
import { leaseStream } from '../../shared/fleet/lease-events.ts';
import { createEmbeddedIndex } from '../../shared/read-index/embedded/embedded-index.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { webhookProgressStream } from '../../shared/webhooks/webhook-events.ts';
import type { Webhook } from '../../shared/webhooks/webhook-state.ts';
import { createDataDirectory } from '../support/server.ts';
import { schemasOf } from './command-world.ts';

const SPACE = 'varve';
const PATIENT = { timeout: 20_000 };
const NOTE = 'api::note.note';
const title = { type: 'string' };
const linked = { type: 'relation', relation: 'oneToMany', target: NOTE };
const { registry, definitions } = schemasOf({ note: { attributes: { title, secret: title, linked } } });
const { definitions: others } = schemasOf({ note: { attributes: { title: { type: 'integer' } } } });
const isNote = ({ uid }: TypeDefinition) => uid === NOTE;
const [definition, other] = [definitions.find(isNote), others.find(isNote)];

let log: EventStore;
/** Positions by the name of the event. */
const at: Record<string, bigint> = {};

async function append(stream: string, epoch: number, type: string, data: unknown): Promise<bigint> {
  const metadata = { schemaVersion: 1, at: '2026-01-01T00:00:00.000Z', epoch };
  const event = { id: randomUUID(), type, data, metadata: epoch < 0 ? ({} as never) : metadata };
  const result = await log.append(stream, 'any', [event]);
  if (result.kind !== 'appended') throw new Error(result.kind);
  return result.position;
}

function claim(epoch: number): Promise<bigint> {
  return append(leaseStream(SPACE), epoch, 'leader-elected', { epoch, owner: `owner ${epoch}`, address: '' });
}

/** Appends an event of a document. Epoch -1: by another program. */
function write(documentId: string, epoch: number, type: string, text: string): Promise<bigint> {
  const relations = [{ attribute: 'linked', change: { kind: 'set', targets: ['n1'] } }];
  const values = { title: text };
  const lost = text === 'lost' ? { relations } : { relations: [] };
  const data = { type: NOTE, documentId, locale: null, values, shared: [], ...lost };
  return append(documentStream(SPACE, NOTE, documentId), epoch, type, data);
}

/** A leader of epoch 1 writes, loses the lease without noticing, and continues. Another program writes too. */
async function writeLog(): Promise<void> {
  const types = definitionStream(SPACE, NOTE);
  for (const builtIn of definitions.filter((each) => !isNote(each)))
    await append(definitionStream(SPACE, builtIn.uid), 0, 'content-type-defined', builtIn);
  at['defined'] = await append(types, 0, 'content-type-defined', definition);
  await claim(1);
  at['created'] = await write('n1', 1, 'entry-created', 'first');
  at['claimed'] = await claim(2);
  await write('n1', 1, 'entry-changed', 'lost');
  await write('n2', 1, 'entry-created', 'lost');
  await append(types, 1, 'content-type-defined', other);
  await write('n1', -1, 'entry-deleted', 'lost');
  const progress = { store: 'another', upTo: '1000', open: [] };
  at['lost'] = await append(webhookProgressStream(SPACE), 1, 'webhooks-progressed', progress);
  at['changed'] = await write('n1', 2, 'entry-changed', 'second');
  await write('n1', 1, 'entry-changed', 'lost');
}

/** Returns the positions of events from the definition of the notes on, without those of claims. */
function positionsIn(events: readonly StoredEvent[]): readonly bigint[] {
  const shown = events.filter(
    ({ type, position }) => type !== 'leader-elected' && position >= (at['defined'] ?? 0n),
  );
  return shown.map(({ position }) => position);
}

async function allOf(events: AsyncIterable<StoredEvent>): Promise<readonly bigint[]> {
  const all = await Array.fromAsync(events);
  return positionsIn(all);
}

function graphOf(events: readonly StoredEvent[]): ContentGraph {
  const graph = openContentGraph(':memory:');
  onTestFinished(graph.close);
  graph.replay(events);
  return graph;
}

async function rawLog(): Promise<readonly StoredEvent[]> {
  return (await Array.fromAsync(log.readAll(0n))).flat();
}

const counting = () => createEffectiveEvents(log, SPACE);
const inLog = () => [at['defined'], at['created'], at['changed']];

beforeAll(async () => {
  log = openSqliteEventStore(':memory:', { space: SPACE });
  await writeLog();
  return () => log.close();
});

describe('the reader of events that count', () => {
  it.each([1, 2, 1_000])('omits others, in batches of %i', async (batchSize) => {
    const { after, batches } = counting();
    expect(await allOf(after(0n, { batchSize }))).toEqual(inLog());
    const read = await Array.fromAsync(batches(0n, { batchSize }));
    expect(read.reduce((sum, batch) => sum + batch.read, 0)).toBe((await rawLog()).length);
    expect(read.at(-1)?.upTo).toBe(await log.lastPosition());
  });

  it('begins with the claims before a position, and ends at a position', async () => {
    const { lost = 0n, changed = 0n, claimed = 0n } = at;
    expect(await allOf(counting().after(claimed))).toEqual([changed]);
    expect(await allOf(counting().after(claimed - 1n))).toEqual([changed]);
    const until = await Array.fromAsync(counting().batches(claimed, { until: lost, batchSize: 2 }));
    expect(until.flatMap(({ events }) => events)).toEqual([]);
    expect(until.at(-1)?.upTo).toBe(lost);
  });

  it('reads streams, and subscribes', async () => {
    const { stream, subscribe } = counting();
    expect(await allOf(stream(documentStream(SPACE, NOTE, 'n1')))).toEqual([at['created'], at['changed']]);
    expect(await allOf(stream(documentStream(SPACE, NOTE, 'n2')))).toEqual([]);
    const seen: StoredEvent[] = [];
    const reached = Promise.withResolvers<void>();
    const end = await log.lastPosition();
    const { close } = subscribe(0n, async ({ events, upTo }) => {
      seen.push(...events);
      if (upTo >= end) reached.resolve();
    });
    await reached.promise;
    await close();
    expect(positionsIn(seen)).toEqual(inLog());
  });

  it('delivers an event at which readers stop, also after the lease of its writer', async () => {
    const own = openSqliteEventStore(':memory:', { space: SPACE, decode: upcast });
    onTestFinished(() => own.close());
    const metadata = { schemaVersion: 99, at: '2026-01-01T00:00:00.000Z', epoch: 0 };
    const lead = { epoch: 1, owner: 'a', address: '' };
    const claimed = { schemaVersion: 1, at: metadata.at, epoch: 1 };
    for (const event of [
      { id: randomUUID(), type: 'leader-elected', data: lead, metadata: claimed },
      { id: randomUUID(), type: 'entry-created', data: {}, metadata },
    ])
      await own.append(leaseStream(SPACE), 'any', [event]);
    const events = createEffectiveEvents(own, SPACE);
    for (const read of [events.after(0n), events.stream(leaseStream(SPACE))])
      expect((await Array.fromAsync(read)).map(({ unreadable }) => unreadable?.kind)).toEqual([
        undefined,
        'newer-version',
      ]);
  });
});

describe('an event that does not count', () => {
  it('changes no graph', async () => {
    const graph = graphOf(await rawLog());
    expect(graph.reader.entries(NOTE, 'n1').map(({ values }) => values['title'])).toEqual(['second']);
    expect(graph.reader.entries(NOTE, 'n2')).toEqual([]);
    expect(graph.definition(NOTE)).toBe(JSON.stringify(definition));
  });

  it('is in no change feed, and in no journal', async () => {
    const { changesBetween } = graphOf(await rawLog());
    const read = createLogReader({ events: counting(), space: SPACE, changesBetween });
    const until = await log.lastPosition();
    for (const after of [0n, at['created'] ?? 0n]) {
      const changes: unknown[] = [];
      const isEnough = async ({ documentId, rows }: { documentId: string; rows: readonly object[] }) => {
        changes.push([documentId, rows]);
        return false;
      };
      const types = new Set([NOTE]);
      expect(await read({ after, until, types, isEnough })).toEqual({ reached: until, isEnd: true });
      const row = { locale: null, status: 'draft' };
      const created = ['n1', [{ ...row, position: at['created'], event: 'create', changed: 'all' }]];
      const changed = [
        'n1',
        [{ ...row, position: at['changed'], event: 'update', changed: new Set(['title']) }],
      ];
      expect(changes).toEqual(after === 0n ? [created, changed] : [changed]);
    }
  });

  it('does not make a change of hidden attributes visible', async () => {
    const position = at['changed'] ?? 0n;
    const changed = new Set(['unknown']);
    const row = { position, locale: null, status: 'draft', event: 'update', changed } as const;
    const change = { type: NOTE, documentId: 'n1', at: '', position };
    const caller = { rights: FULL_ACCESS, registry, authorization: undefined };
    const visible = registry.contentTypes;
    const rows = [{ ...row, linksAfter: at['created'] ?? 0n }];
    expect(
      (await visibleChange({ events: counting(), registry }, caller, { visible }, { ...change, rows })).rows,
    ).toEqual([]);
  });

  it('brings no content types into force', async () => {
    await typesInForce({ log, space: SPACE, definitions }, (types) => {
      throw new Error(`${types} differ`);
    });
  });

  it('changes no document of the past, and is in no export', async () => {
    const options = { events: counting(), space: SPACE, registry };
    const { rows } = await readDocumentAt(options, { type: NOTE, documentId: 'n1', revision: 2n });
    expect(rows.map(({ values }) => values['title'])).toEqual(['first']);
    const lines = (await Array.fromAsync(exportLog(log, SPACE))).join('\n');
    expect(lines).toContain('second');
    expect(lines).not.toContain('lost');
  });

  it('purges nothing, and ends no content types', async () => {
    const { claimed = 0n, lost = 0n, changed = 0n } = at;
    expect(await changesContent(counting(), claimed, lost)).toBe(false);
    expect(await changesContent(counting(), claimed, changed)).toBe(true);
    const end = createTypesEnd(counting());
    end.begin();
    end.reached({ type: 'content-type-defined', position: claimed } as StoredEvent);
    expect(await end.showsAll(lost)).toBe(true);
    expect(await end.showsAll(changed)).toBe(false);
  });

  it('makes no delivery, is in no body, and hands over no progress', async () => {
    const graph = graphOf(await rawLog());
    const index = createEmbeddedIndex({ registry });
    await loadReadIndex(graph, index);
    const store = openDeliveryStore(createDataDirectory());
    const hook = {
      id: 'h1',
      events: ['entry.create', 'entry.update', 'entry.delete'],
      types: [],
      locales: [],
      populate: '',
      status: 'paused',
      since: 0n,
    } as unknown as Webhook;
    const fail = (error: unknown) => {
      throw error;
    };
    const options: Partial<TermOptions> = {
      log,
      events: counting(),
      space: SPACE,
      registry,
      graph,
      index,
      defaultLocale: 'en',
      rules: { maxPageSize: 100 } as unknown as TermOptions['rules'],
      limits: { ...WEBHOOK_LIMITS, lookMs: 20 },
      epoch: 2,
      store,
      hooks: () => new Map([['h1', hook]]),
      commands: { open: () => [] } as unknown as TermOptions['commands'],
      shows: async () => true,
      report: { error: fail, attempted: () => {}, replaced: () => {} },
      now: Date.now,
    };
    const term = await startTerm(options as TermOptions);
    onTestFinished(async () => {
      await term.close(false);
      store.close();
    });
    const deliveries = () => store.list({ limit: 10 });
    await expect.poll(() => deliveries().length, PATIENT).toBe(2);
    store.requestHistory({ hook: 'h1', from: 1n });
    await expect.poll(() => store.historyRequests(), PATIENT).toEqual([]);
    const shown = deliveries().map(({ event, documentId, body }) => [
      event,
      documentId,
      JSON.parse(body).entry.title,
    ]);
    expect(shown.sort()).toEqual([
      ['entry.create', 'n1', 'first'],
      ['entry.update', 'n1', 'second'],
    ]);
  });

  it('does not end a process without a graph', async () => {
    const stop = (event: StoredEvent) => {
      throw new Error(event.type);
    };
    const running = await trackLease({ log, space: SPACE }, definitions, { stop });
    onTestFinished(running.close);
    await append(definitionStream(SPACE, NOTE), 1, 'content-type-defined', other);
    await claim(3);
    await expect.poll(running.epoch, PATIENT).toBe(3);
    expect(await Promise.race([running.types.changed.then(() => 'closed'), delay(0, 'open')])).toBe('open');
    await append(definitionStream(SPACE, NOTE), 3, 'content-type-defined', other);
    await expect(running.types.changed).rejects.toThrow('changed the content types');
  });
});
