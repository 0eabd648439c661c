import type { Client } from '@elastic/elasticsearch';
import { acknowledged } from './acknowledged.ts';
import { namesAtOnce } from './names-at-once.ts';

/** Deletes indices. A missing one is not an error. */
export async function deleteIndices(client: Client, indices: readonly string[]): Promise<void> {
  for (const index of namesAtOnce(indices))
    await acknowledged(client.indices.delete({ index, ignore_unavailable: true }));
}
