import { errors } from '@elastic/elasticsearch';

/** Error for an unconfirmed change: it may have happened, may happen later, or never. */
class Unacknowledged extends errors.ElasticsearchClientError {
  constructor() {
    super('not all nodes of the cluster have confirmed a change in time');
  }
}

/** Returns whether the cluster refuses a change because somebody has blocked an index or the cluster. The block may be lifted later. */
export function isBlocked(error: unknown): boolean {
  return error instanceof errors.ResponseError && error.body?.error?.type === 'cluster_block_exception';
}

/**
 * Resolves when all nodes of the cluster have confirmed a change of its state, such as an alias switch. Rejects with a passing failure if
 * they do not confirm it in time. Varve may repeat the change, whatever happened to the first attempt.
 */
export async function acknowledged(change: Promise<{ readonly acknowledged: boolean }>): Promise<void> {
  if (!(await change).acknowledged) throw new Unacknowledged();
}
