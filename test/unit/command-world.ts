import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type ContentGraph, openContentGraph } from '../../projections/graph/content-graph.ts';
import type { Command, CommandResult } from '../../services/command/command.ts';
import { createCommandHandler } from '../../services/command/command-handler.ts';
import { randomDocumentId } from '../../services/command/document-id.ts';
import type { CommandEnvironment } from '../../services/command/environment.ts';
import type { DocumentEvent } from '../../shared/document/events.ts';
import type { EventStore, NewEvent, StoredEvent } from '../../shared/event-store/event-store.ts';
import { openSqliteEventStore } from '../../shared/event-store/sqlite/sqlite-event-store.ts';
import { buildRegistry, type SchemaFile } from '../../shared/schema/build-registry.ts';
import { loadContentTypes } from '../../shared/schema/load-content-types.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import { definitionsOf, type TypeDefinition } from '../../shared/schema/type-definitions.ts';

/** The write side with a real log and a real graph, in a new directory. */
export type CommandWorld = {
  readonly registry: SchemaRegistry;
  readonly store: EventStore;
  readonly graph: ContentGraph;
  execute(command: Command): Promise<CommandResult>;
  /** Resolves when the graph has reached this position. */
  applied(position: bigint): Promise<void>;
  /** Returns the document events that were stored since the last call. */
  newEvents(): Promise<readonly DocumentEvent[]>;
  /** Appends to a new stream, and waits until the graph has applied the events. */
  append(stream: string, events: readonly NewEvent[]): Promise<void>;
  close(): Promise<void>;
};

export type Schemas = {
  readonly registry: SchemaRegistry;
  readonly definitions: readonly TypeDefinition[];
};

/** Returns the content types of the conformance corpus. */
export function corpusSchemas(): Schemas {
  const loaded = loadContentTypes(path.resolve(import.meta.dirname, '../conformance/schema'));
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  return loaded;
}

/** Returns content types by singular name and components by uid. The attributes have the form of schema.json. */
export function schemasOf(
  types: Readonly<
    Record<string, { attributes: object; options?: object; pluginOptions?: object; kind?: string }>
  >,
  components: Readonly<Record<string, object>> = {},
): Schemas {
  const files: SchemaFile[] = [
    ...Object.entries(components).map(
      ([uid, attributes]): SchemaFile => ({
        model: 'component',
        file: uid,
        uid,
        json: { collectionName: uid, info: { displayName: uid }, attributes },
      }),
    ),
    ...Object.entries(types).map(
      ([name, type]): SchemaFile => ({
        model: 'contentType',
        file: name,
        namespace: `api::${name}`,
        json: {
          kind: 'collectionType',
          info: { singularName: name, pluralName: `${name}s`, displayName: name },
          options: { draftAndPublish: true },
          ...type,
        },
      }),
    ),
  ];
  const parsed = buildRegistry(files);
  if (parsed.problems.length > 0) throw new Error(JSON.stringify(parsed.problems));
  return { registry: parsed.registry, definitions: definitionsOf(parsed, 'en') };
}

/** Opens a world, and closes it at the end of the test. */
export async function newCommandWorld(schemas: Schemas): Promise<CommandWorld> {
  const world = await openCommandWorld(schemas);
  onTestFinished(world.close);
  return world;
}

export async function openCommandWorld(
  { registry, definitions }: Schemas,
  environment: (graph: ContentGraph) => Partial<CommandEnvironment> = () => ({}),
): Promise<CommandWorld> {
  const folder = mkdtempSync(path.join(tmpdir(), 'varve-command-'));
  const store = openSqliteEventStore(path.join(folder, 'log.sqlite'), { space: 'varve' });
  const graph = openContentGraph(path.join(folder, 'graph.sqlite'));
  const waiting: { readonly position: bigint; readonly resolve: () => void }[] = [];
  const subscription = store.subscribe(0n, async (events) => {
    graph.apply(events);
    for (const waiter of waiting.splice(0)) {
      if (waiter.position <= graph.position()) waiter.resolve();
      else waiting.push(waiter);
    }
  });
  const applied = async (position: bigint): Promise<void> => {
    if (position <= graph.position()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ position, resolve });
    await Promise.race([promise, subscription.done]);
  };
  const append = async (stream: string, events: readonly NewEvent[]): Promise<void> => {
    const result = await store.append(stream, 'none', events);
    if (result.kind !== 'appended') throw new Error(`${stream} exists`);
    await applied(result.position);
  };
  const metadata = { schemaVersion: 1, at: '2024-01-01T00:00:00.000Z', epoch: 0 };
  for (const data of definitions) {
    await append(`varve.type-${data.uid}`, [
      { id: randomUUID(), type: 'content-type-defined', data, metadata },
    ]);
  }
  const handler = createCommandHandler({
    eventStore: store,
    graph: graph.reader,
    applied,
    registry: () => registry,
    defaultLocale: 'en',
    space: 'varve',
    lead: () => ({ epoch: 0 }),
    now: () => new Date(),
    newDocumentId: randomDocumentId,
    newEventId: randomUUID,
    ...environment(graph),
  });
  let seen = await store.lastPosition();
  return {
    registry,
    store,
    graph,
    execute: handler.execute,
    applied,
    append,
    async newEvents() {
      const events: StoredEvent[] = [];
      for await (const batch of store.readAll(seen)) events.push(...batch);
      seen = events.at(-1)?.position ?? seen;
      return events.map(({ type, data }) => ({ type, data }) as DocumentEvent);
    },
    async close() {
      await subscription.close();
      await store.close();
      graph.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Returns the values of a row that are not null, or undefined if there is no such row. */
export function valuesOf(
  world: CommandWorld,
  type: string,
  documentId: string,
  version: 'draft' | 'published' | 'live',
  locale: string | null = null,
): Readonly<Record<string, unknown>> | undefined {
  const row = world.graph.reader
    .entries(type, documentId)
    .find((entry) => entry.version === version && entry.locale === locale);
  if (row === undefined) return undefined;
  return Object.fromEntries(Object.entries(row.values).filter(([, value]) => value !== null));
}
