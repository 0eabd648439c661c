import { createHash } from 'node:crypto';
import { type Client, errors } from '@elastic/elasticsearch';
import { WORDS_VERSION } from '../../../search/words-version.ts';
import type { DocumentLayout } from '../layout/document-layout.ts';
import { indexDefinition } from '../layout/index-definition.ts';
import { writeAlias } from '../layout/index-names.ts';
import { acknowledged } from './acknowledged.ts';

/** Over the nodes of a cluster. */
export type IndexSpread = {
  /** Shards of new indices; existing ones keep theirs until they are rebuilt. */
  readonly shards: number;
  /** Copies besides the primary, of all indices; undefined: none for new ones, and the others unchanged. */
  readonly replicas: number | undefined;
};

export type CreateIndexOptions = {
  readonly client: Client;
  /** Log that documents are made from: indices made from another one are not used. */
  readonly log: string;
  readonly spread: IndexSpread;
};

/** Counts up when the same row and layout give another document than before. */
const DOCUMENT_FORMAT = 3;

const EXISTS = 'resource_already_exists_exception';

/**
 * Makes an empty index with a write alias of its own. `aliases`: its other aliases. Resolves with false if it exists: another process
 * makes it, or an earlier request of this one was answered late.
 */
export async function createIndex(
  { client, log, spread }: CreateIndexOptions,
  index: string,
  layout: DocumentLayout,
  aliases: readonly string[] = [],
): Promise<boolean> {
  const { settings, mappings } = indexDefinition(layout) as { settings: object; mappings: object };
  const spreadOver = { number_of_shards: spread.shards, number_of_replicas: spread.replicas ?? 0 };
  const creating = client.indices.create({
    index,
    settings: { ...settings, ...spreadOver },
    mappings: { ...mappings, _meta: { varve: signature(layout, log) } },
    aliases: Object.fromEntries([writeAlias(index), ...aliases].map((alias) => [alias, {}])),
  });
  try {
    await acknowledged(creating);
    return true;
  } catch (error) {
    if (error instanceof errors.ResponseError && error.body?.error?.type === EXISTS) return false;
    throw error;
  }
}

/** Short form of an index's content: equal for equal documents and mappings. */
export function signature(layout: DocumentLayout, log: string): string {
  const text = JSON.stringify([DOCUMENT_FORMAT, log, indexDefinition(layout), wordRules(layout)]);
  return createHash('sha256').update(text).digest('hex');
}

/** Version and settings by which documents have their words. */
function wordRules({ words: { locale, fields } }: DocumentLayout): unknown {
  return [
    WORDS_VERSION,
    locale,
    fields.map(({ name, path, attribute, type, kind }) => ({ name, path, attribute, type, kind })),
  ];
}
