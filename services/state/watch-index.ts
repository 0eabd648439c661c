import type { ClusterWatch } from '../../shared/read-index/cluster-health.ts';
import type { ConditionCheck } from '../operating/conditions.ts';

/** Returns a check of the indices outside the process. `answersReads`: without them the process cannot answer. */
export function checkIndex({ address, health }: ClusterWatch, answersReads: boolean): ConditionCheck {
  return async () => {
    try {
      const { status, missing, unassignedShards } = await health();
      if (missing.length > 0)
        return {
          code: 'index-missing',
          message: `Elasticsearch at ${address} has no index ${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ` and ${missing.length - 3} others` : ''}`,
          isUnready: answersReads,
        };
      if (status === 'red')
        return {
          code: 'index-missing',
          message: `Elasticsearch at ${address} has lost a shard: its status is red`,
          isUnready: answersReads,
        };
      if (status === 'green') return undefined;
      return {
        code: 'index-not-green',
        message: `Elasticsearch at ${address} is ${status}: ${unassignedShards} copies of shards have no node`,
      };
    } catch (error) {
      return {
        code: 'read-index-unreachable',
        message: `Elasticsearch at ${address} does not answer: ${(error as Error).message}`,
        isUnready: answersReads,
      };
    }
  };
}

/** Returns a function that says whether the indices answer. */
export function reachable({ health }: ClusterWatch): () => Promise<boolean> {
  return () =>
    health().then(
      () => true,
      () => false,
    );
}
