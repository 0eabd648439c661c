import { errors } from '@elastic/elasticsearch';

/** The change may have been made, may be made later, or not at all. */
class Unacknowledged extends errors.ElasticsearchClientError {
  constructor() {
    super('not all nodes of the cluster have confirmed a change in time');
  }
}

/**
 * Resolves when all nodes of the cluster have confirmed a change of its state, such as an alias switch. Rejects with a passing failure if
 * they have not in time: a change of Varve may be repeated, whatever has become of the first attempt.
 */
export async function acknowledged(change: Promise<{ readonly acknowledged: boolean }>): Promise<void> {
  if (!(await change).acknowledged) throw new Unacknowledged();
}
