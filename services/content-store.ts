import { join } from 'node:path';
import { type ContentGraph, openContentGraph } from '../projections/content-graph.ts';
import type { ContentGraphReader } from '../shared/document/entry.ts';
import { upcast } from '../shared/document/upcasters.ts';
import type { EventStore } from '../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../shared/event-store/sqlite-event-store.ts';
import type { ReadIndex } from '../shared/read-index/read-index.ts';
import type { SchemaRegistry } from '../shared/schema/schema-registry.ts';
import type { TypeDefinition } from '../shared/schema/type-definitions.ts';
import { lockDataDirectory } from '../shared/sqlite/lock-data-directory.ts';
import { appendDefinitions } from './append-definitions.ts';

export type ContentStoreOptions = {
  /** The data directory: made when it is not there. */
  readonly data: string;
  readonly space: string;
  readonly registry: SchemaRegistry;
  readonly definitions: readonly TypeDefinition[];
  /** Makes the read index that follows the graph; absent: there is none (an import). */
  readonly createIndex?: (registry: SchemaRegistry) => ReadIndex;
};

/** The log of a data directory and what follows it, held by this process alone until `close`. */
export type ContentStore = {
  readonly registry: SchemaRegistry;
  readonly log: EventStore;
  readonly graph: ContentGraphReader;
  readonly index: ReadIndex | undefined;
  /** No document was ever written. */
  readonly isNew: boolean;
  /** Resolves when graph and index show everything up to `position`. */
  applied(position: bigint): Promise<void>;
  /** Rejects when an event could not be applied: nothing that is shown can be trusted to be level any more. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
};

const CATCH_UP_BATCH = 1000;

/**
 * Takes the data directory, appends the content type definitions that changed, brings the graph level with the log and loads
 * the index from it. Throws DataDirectoryInUse when another process has the directory.
 */
export async function openContentStore(options: ContentStoreOptions): Promise<ContentStore> {
  const lock = lockDataDirectory(options.data);
  const log = openSqliteEventStore(join(options.data, 'events.db'), { decode: upcast });
  const isNew = !(await hasDocuments(log));
  await appendDefinitions(log, options.space, options.definitions, new Date().toISOString());
  const graph = openContentGraph(join(options.data, 'graph.db'));
  for await (const events of log.readAll(graph.position(), { batchSize: CATCH_UP_BATCH }))
    graph.apply(events);
  const index = options.createIndex?.(graph.registry());
  if (index !== undefined) for (const batch of graph.readAll()) await index.apply(batch);
  const follower = follow(log, graph, index);
  return {
    registry: options.registry,
    log,
    graph: graph.reader,
    index,
    isNew,
    applied: follower.applied,
    failed: follower.failed,
    async close() {
      await follower.close();
      await index?.close();
      graph.close();
      await log.close();
      lock.release();
    },
  };
}

async function hasDocuments(log: EventStore): Promise<boolean> {
  for await (const events of log.readAll(0n)) {
    if (events.some((event) => event.type !== 'content-type-defined')) return true;
  }
  return false;
}

function follow(log: EventStore, graph: ContentGraph, index: ReadIndex | undefined) {
  const waiting: {
    readonly position: bigint;
    readonly resolve: () => void;
    readonly reject: (e: unknown) => void;
  }[] = [];
  const subscription = log.subscribe(graph.position(), async (events) => {
    const batch = graph.apply(events);
    await index?.apply(batch);
    for (const waiter of waiting.splice(0)) {
      if (waiter.position <= batch.position) waiter.resolve();
      else waiting.push(waiter);
    }
  });
  const failed = subscription.done.then(() => new Promise<never>(() => {}));
  failed.catch((error: unknown) => {
    for (const waiter of waiting.splice(0)) waiter.reject(error);
  });
  return {
    failed,
    applied: (position: bigint) =>
      graph.position() >= position
        ? Promise.resolve()
        : new Promise<void>((resolve, reject) => waiting.push({ position, resolve, reject })),
    close: () => subscription.close(),
  };
}
