import type { Client } from '@elastic/elasticsearch';
import type { ClusterHealth, ClusterWatch } from '../../cluster-health.ts';
import { readLiveSet } from './index-sets.ts';

const ANSWERS_WITHIN_MS = 2_000;

type ClusterHealthOptions = {
  readonly client: Client;
  readonly space: string;
  /** Aliases that searches need. */
  readonly aliases: ReadonlySet<string>;
};

/** Returns where a namespace's indices are, and a function that reads their health. */
export function watchCluster(address: string | undefined, options: ClusterHealthOptions): ClusterWatch {
  // Credentials of an address are for nobody else.
  const shown = (address ?? 'http://127.0.0.1:9200').replaceAll(/\/\/[^@/,]*@/g, '//');
  return { address: shown, health: () => readClusterHealth(options) };
}

/** Rejects within some seconds if no node answers. */
async function readClusterHealth({ client, space, aliases }: ClusterHealthOptions): Promise<ClusterHealth> {
  const once = { maxRetries: 0, requestTimeout: ANSWERS_WITHIN_MS };
  const [found, live] = await Promise.all([
    client.cluster.health({ index: `${space}-*`, timeout: '1s' }, once),
    readLiveSet(client, space, aliases),
  ]);
  return {
    status: found.status.toLowerCase() as ClusterHealth['status'],
    nodes: found.number_of_nodes,
    unassignedShards: found.unassigned_shards,
    missing: [...aliases].filter((alias) => live[alias] === undefined),
  };
}
