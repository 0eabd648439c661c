import { createHash } from 'node:crypto';
import { type Client, errors } from '@elastic/elasticsearch';
import { WORDS_VERSION } from '../../../search/words-version.ts';
import type { DocumentLayout } from '../layout/document-layout.ts';
import { indexDefinition } from '../layout/index-definition.ts';
import { writeAlias } from '../layout/index-names.ts';
import { acknowledged } from './acknowledged.ts';
import { deleteIndices } from './delete-indices.ts';

/** Distribution of indices over the nodes of a cluster. */
export type IndexSpread = {
  /** Shards of new indices. Existing indices keep theirs until they are rebuilt. */
  readonly shards: number;
  /**
   * Copies of each shard besides the primary, for all indices. Undefined: one for new indices if the cluster has a node for it; existing ones
   * are unchanged.
   */
  readonly replicas: number | undefined;
};

export type CreateIndexOptions = {
  readonly client: Client;
  /** Log from which documents are made. Indices made from another log are not used. */
  readonly log: string;
  readonly spread: IndexSpread;
};

/** Raise it whenever the same row and layout give a different document than before. */
const DOCUMENT_FORMAT = 4;

const EXISTS = 'resource_already_exists_exception';
/** An index has the name of an alias. */
const TAKEN = 'invalid_alias_name_exception';

/**
 * Makes an empty index with a write alias of its own. `aliases`: its other aliases. Resolves to false if the index exists: another process
 * made it, or an earlier request of this process was answered late.
 */
export async function createIndex(
  { client, log, spread }: CreateIndexOptions,
  index: string,
  layout: DocumentLayout,
  aliases: readonly string[] = [],
): Promise<boolean> {
  const { settings, mappings } = indexDefinition(layout) as { settings: object; mappings: object };
  const spreadOver = { number_of_shards: spread.shards, ...replicaSettings(spread.replicas) };
  const create = () =>
    acknowledged(
      client.indices.create({
        index,
        settings: { ...settings, ...spreadOver },
        mappings: { ...mappings, _meta: { varve: signature(layout, log) } },
        aliases: Object.fromEntries([writeAlias(index), ...aliases].map((alias) => [alias, {}])),
      }),
    );
  try {
    await create();
  } catch (error) {
    const type = error instanceof errors.ResponseError ? error.body?.error?.type : undefined;
    if (type === EXISTS) return false;
    if (type !== TAKEN) throw error;
    // Elasticsearch made it for the deletion of a document, because the index was gone: deletions ignore `require_alias`.
    await deleteIndices(client, [writeAlias(index)]);
    await create();
  }
  return true;
}

/** Returns the settings for a number of replicas; undefined: one, as soon as the cluster has a second node. */
export function replicaSettings(replicas: number | undefined) {
  return replicas === undefined
    ? { auto_expand_replicas: '0-1' as const }
    : { auto_expand_replicas: 'false' as const, number_of_replicas: replicas };
}

/** Returns a digest of an index's content, which is equal for equal documents and mappings. */
export function signature(layout: DocumentLayout, log: string): string {
  const text = JSON.stringify([DOCUMENT_FORMAT, log, indexDefinition(layout), wordRules(layout)]);
  return createHash('sha256').update(text).digest('hex');
}

/** Returns the version and settings that decide the words of documents. */
function wordRules({ words: { locale, fields } }: DocumentLayout): unknown {
  return [
    WORDS_VERSION,
    locale,
    fields.map(({ name, path, attribute, type, kind }) => ({ name, path, attribute, type, kind })),
  ];
}
