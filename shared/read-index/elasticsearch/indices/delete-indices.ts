import type { Client } from '@elastic/elasticsearch';
import { acknowledged } from './acknowledged.ts';

/** Limited because the URL of the request contains the names, and Elasticsearch accepts a URL of at most 4 KB. */
const NAMES_AT_ONCE = 12;

/** Deletes indices. A missing one is not an error. */
export async function deleteIndices(client: Client, indices: readonly string[]): Promise<void> {
  for (let at = 0; at < indices.length; at += NAMES_AT_ONCE) {
    const index = indices.slice(at, at + NAMES_AT_ONCE);
    await acknowledged(client.indices.delete({ index, ignore_unavailable: true }));
  }
}
