import { createHash } from 'node:crypto';
import type { Client } from '@elastic/elasticsearch';
import type { DocumentLayout } from '../layout/document-layout.ts';
import { indexDefinition } from '../layout/index-definition.ts';
import { writeAlias } from '../layout/index-names.ts';

/** Over the nodes of a cluster. */
export type IndexSpread = {
  /** Of an index that is made from now on: those that there are keep theirs until they are made anew. */
  readonly shards: number;
  /** Copies beside the primary, of all indices; undefined: none for new ones, and the others as they are. */
  readonly replicas: number | undefined;
};

export type CreateIndexOptions = {
  readonly client: Client;
  /** Names the log that documents are made from: indices made from another one are not used. */
  readonly log: string;
  readonly spread: IndexSpread;
};

/** Counts up when the same row and layout give another document than before. */
const DOCUMENT_FORMAT = 2;

/** Makes an empty index that can be written through its own alias. `aliases`: what else it is found by. */
export async function createIndex(
  { client, log, spread }: CreateIndexOptions,
  index: string,
  layout: DocumentLayout,
  aliases: readonly string[] = [],
): Promise<void> {
  const { settings, mappings } = indexDefinition(layout) as { settings: object; mappings: object };
  const spreadOver = { number_of_shards: spread.shards, number_of_replicas: spread.replicas ?? 0 };
  await client.indices.create({
    index,
    settings: { ...settings, ...spreadOver },
    mappings: { ...mappings, _meta: { varve: signature(layout, log) } },
    aliases: Object.fromEntries([writeAlias(index), ...aliases].map((alias) => [alias, {}])),
  });
}

/** What an index holds, in short: equal for equal documents and mappings. */
export function signature(layout: DocumentLayout, log: string): string {
  const text = JSON.stringify([DOCUMENT_FORMAT, log, indexDefinition(layout)]);
  return createHash('sha256').update(text).digest('hex');
}
