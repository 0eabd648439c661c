import type { ContentGraph } from '../projections/content-graph.ts';
import { catchUp } from '../projections/projector.ts';
import { isAccessEvent } from '../shared/access/access-events.ts';
import { upcast } from '../shared/document/upcasters.ts';
import type { EventStore } from '../shared/event-store/event-store.ts';
import type { SchemaRegistry } from '../shared/schema/schema-registry.ts';
import type { TypeDefinition } from '../shared/schema/type-definitions.ts';
import { lockDataDirectory, type OperatorChannel } from '../shared/sqlite/lock-data-directory.ts';
import { appendDefinitions } from './append-definitions.ts';
import { logAddress, openEventStore } from './open-event-store.ts';
import type { ReadSidePlan } from './read-side.ts';
import { openServedGenerations, type ServedGenerations } from './rebuild/served-generations.ts';

export type ContentStoreOptions = {
  /** The data directory: made when it is not there. */
  readonly data: string;
  /** Address of the log; absent: a file in the data directory. */
  readonly eventStore?: string | undefined;
  readonly space: string;
  readonly registry: SchemaRegistry;
  readonly definitions: readonly TypeDefinition[];
  /** Where this process takes operators' requests. */
  readonly channel?: OperatorChannel;
};

/** The log of a data directory and the graph made from it, held by this process alone until `close`. */
export type ContentStore = {
  readonly registry: SchemaRegistry;
  readonly log: EventStore;
  /** Of the generation that serves. Level with the log as it was when the store was opened. */
  readonly graph: ContentGraph;
  readonly generations: ServedGenerations;
  /** No document was ever written. */
  readonly isNew: boolean;
  close(): Promise<void>;
};

/**
 * Takes the data directory, appends the content type definitions that changed and brings the graph level with the log. Throws
 * DataDirectoryInUse when another process has the directory.
 */
export async function openContentStore(
  options: ContentStoreOptions,
  plan?: ReadSidePlan,
): Promise<ContentStore> {
  const lock = lockDataDirectory(options.data, options.channel);
  const { space } = options;
  const log = await openEventStore(logAddress(options), { space, decode: upcast, threaded: true });
  const isNew = !(await hasDocuments(log));
  await appendDefinitions(log, options.space, options.definitions, new Date().toISOString());
  const generations = openServedGenerations({ data: options.data, log, plan });
  const { graph } = generations;
  await catchUp(log, graph);
  return {
    registry: options.registry,
    log,
    graph,
    generations,
    isNew,
    async close() {
      await generations.close();
      await log.close();
      lock.release();
    },
  };
}

async function hasDocuments(log: EventStore): Promise<boolean> {
  for await (const events of log.readAll(0n)) {
    if (events.some((event) => event.type !== 'content-type-defined' && !isAccessEvent(event))) return true;
  }
  return false;
}
