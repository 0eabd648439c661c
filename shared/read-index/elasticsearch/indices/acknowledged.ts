import { errors } from '@elastic/elasticsearch';

/** Error for an unconfirmed change: it may have happened, may happen later, or never. */
class Unacknowledged extends errors.ElasticsearchClientError {
  constructor() {
    super('not all nodes of the cluster have confirmed a change in time');
  }
}

/**
 * Resolves when all nodes of the cluster have confirmed a change of its state, such as an alias switch. Rejects with a passing failure if
 * they do not confirm it in time. Varve may repeat the change, whatever happened to the first attempt.
 */
export async function acknowledged(change: Promise<{ readonly acknowledged: boolean }>): Promise<void> {
  if (!(await change).acknowledged) throw new Unacknowledged();
}
