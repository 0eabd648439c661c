import { expect, it, onTestFinished } from 'vitest';
import { openEmptyGraph } from '../../../projections/graph/content-graph.ts';
import { createLogReader, type LogChange } from '../../../services/changes/read-changes.ts';
import { definitionStream } from '../../../shared/document/stream-name.ts';
import type { EventStore, StoredEvent } from '../../../shared/event-store/event-store.ts';
import { createEffectiveEvents } from '../../../shared/fleet/effective-events.ts';
import { loadContentTypes } from '../../../shared/schema/load-content-types.ts';

const loaded = loadContentTypes('examples/restaurants');
if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
const { definitions } = loaded;
const CHEF = 'api::chef.chef';
const SPACE = 'varve';
/** Largest number of events that one request reads. */
const MAX_EVENTS = 5_000;

/** Creates a log in memory that counts the reads of streams of documents. */
function createLog() {
  const events: StoredEvent[] = [];
  const streams = new Map<string, StoredEvent[]>();
  const reads: string[] = [];
  const append = (stream: string, type: string, data: object) => {
    const before = streams.get(stream) ?? [];
    const event: StoredEvent = {
      ...{ id: `${stream}-${before.length}`, stream, type, data },
      revision: BigInt(before.length),
      position: BigInt(events.length + 1),
      metadata: { schemaVersion: 1, at: '2026-03-04T05:06:07.089Z', epoch: 0 },
    };
    events.push(event);
    streams.set(stream, [...before, event]);
  };
  const log: Pick<EventStore, 'readAll' | 'readStream' | 'lastPosition' | 'subscribe'> = {
    lastPosition: async () => BigInt(events.length),
    subscribe() {
      throw new Error('the feed subscribes to nothing');
    },
    async *readAll(after, { batchSize = 100 } = {}) {
      for (let at = Number(after); at < events.length; at += batchSize)
        yield events.slice(at, at + batchSize);
    },
    async *readStream(stream, from = 0n) {
      if (stream.includes('document')) reads.push(stream);
      yield* (streams.get(stream) ?? []).slice(Number(from));
    },
  };
  return { log, append, reads, events };
}

const streamOf = (n: number) => `${SPACE}.document-${n}`;
const dataOf = (n: number) => ({
  type: CHEF,
  documentId: `d${n}`,
  locale: null,
  values: {},
  relations: [],
  shared: [],
});

it(`reads ${MAX_EVENTS} events at a time, and no stream of a document`, async () => {
  const { log, append, reads, events } = createLog();
  const graph = openEmptyGraph();
  onTestFinished(() => graph.close());
  for (const definition of definitions)
    append(definitionStream(SPACE, definition.uid), 'content-type-defined', definition);
  const documents = 2 * MAX_EVENTS;
  for (let n = 0; n < documents; n++) append(streamOf(n), 'entry-created', dataOf(n));
  const { changesBetween } = graph;
  const read = createLogReader({ events: createEffectiveEvents(log, SPACE), space: SPACE, changesBetween });
  let [reached, looks] = [0n, 0];
  const readOn = async () => {
    graph.replay(events.filter(({ position }) => position > graph.position()));
    const changes: LogChange[] = [];
    for (;;) {
      const isEnough = async (change: LogChange) => changes.push(change) < 0;
      const result = await read({
        after: reached,
        until: graph.position(),
        types: new Set([CHEF]),
        isEnough,
      });
      ({ reached } = result);
      looks += 1;
      if (result.isEnd) return changes;
    }
  };
  expect(await readOn()).toHaveLength(documents);
  expect([looks, reads]).toEqual([Math.ceil((documents + definitions.length) / MAX_EVENTS), []]);
  for (const n of [0, documents - 1]) append(streamOf(n), 'entry-changed', dataOf(n));
  const edits = (await readOn()).map(({ documentId, rows }) => [documentId, rows.map(({ event }) => event)]);
  expect(edits).toEqual([
    ['d0', ['update']],
    [`d${documents - 1}`, ['update']],
  ]);
  expect(reads).toEqual([]);
});
