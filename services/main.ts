import { randomUUID } from 'node:crypto';
import { createEmbeddedIndex } from '../shared/read-index/embedded/embedded-index.ts';
import { USER_TYPE } from '../shared/schema/content-type.ts';
import type { SchemaRegistry } from '../shared/schema/schema-registry.ts';
import { createCommandHandler } from './command/command-handler.ts';
import { randomDocumentId } from './command/document-id.ts';
import { type ContentStoreOptions, openContentStore } from './content-store.ts';
import type { ContentApi } from './http/content-api.ts';
import { createContentApi } from './http/create-content-api.ts';

export type VarveOptions = Omit<ContentStoreOptions, 'createIndex'> & {
  readonly defaultLocale: string;
  readonly usersEnvelope: boolean;
};

/** A content API over a data directory, in this process. */
export type Varve = {
  readonly registry: SchemaRegistry;
  readonly api: ContentApi;
  /** No document was ever written. */
  readonly isNew: boolean;
  /** Rejects when the projector had to stop. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
};

/**
 * The composition root: SQLite log, content graph and embedded index in one process, which is the only one of its data
 * directory and so its leader. Throws a sentence when the directory cannot be used.
 */
export async function openVarve(options: VarveOptions): Promise<Varve> {
  const { registry, space, defaultLocale, usersEnvelope } = options;
  const store = await openContentStore({
    ...options,
    createIndex: (inForce) => createEmbeddedIndex({ registry: inForce }),
  });
  const { index } = store;
  if (index === undefined) throw new Error('the store was opened without an index');
  const commands = createCommandHandler({
    eventStore: store.log,
    graph: store.graph,
    applied: store.applied,
    registry: () => registry,
    defaultLocale,
    space,
    epoch: () => 0,
    now: () => new Date(),
    newDocumentId: randomDocumentId,
    newEventId: randomUUID,
  });
  const api = createContentApi({
    registry,
    index,
    commands,
    defaultLocale,
    usersEnvelope,
    userId: (documentId) => store.graph.entries(USER_TYPE, documentId)[0]?.id,
  });
  return { registry, api, isNew: store.isNew, failed: store.failed, close: store.close };
}
