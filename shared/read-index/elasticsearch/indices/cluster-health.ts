import type { Client } from '@elastic/elasticsearch';
import type { ClusterHealth, ClusterWatch } from '../../cluster-health.ts';
import { readLiveSet } from './index-sets.ts';

const ANSWERS_WITHIN_MS = 2_000;
const FIELDS = ['status', 'number_of_nodes', 'unassigned_shards', 'indices.*.status'];

type ClusterHealthOptions = {
  readonly client: Client;
  readonly space: string;
  /** Aliases that searches need. */
  readonly aliases: ReadonlyMap<string, unknown>;
};

/** Returns where a namespace's indices are, and a function that reads their health. */
export function watchCluster(address: string | undefined, options: ClusterHealthOptions): ClusterWatch {
  // Credentials of an address are for nobody else.
  const shown = (address ?? 'http://127.0.0.1:9200').replaceAll(/\/\/[^@/,]*@/g, '//');
  return { address: shown, health: () => readClusterHealth(options) };
}

/** Rejects within some seconds if no node answers. */
async function readClusterHealth(options: ClusterHealthOptions): Promise<ClusterHealth> {
  const { client, space } = options;
  const aliases = new Set(options.aliases.keys());
  const once = { maxRetries: 0, requestTimeout: ANSWERS_WITHIN_MS };
  const [found, live] = await Promise.all([
    client.cluster.health(
      { index: `${space}-*`, timeout: '1s', level: 'indices', filter_path: FIELDS },
      once,
    ),
    readLiveSet(client, space, aliases),
  ]);
  const missing = [...aliases].filter((alias) => live[alias] === undefined);
  const red = [...aliases].filter((alias) => isRed(found.indices?.[live[alias] ?? '']?.status));
  return {
    status: found.status.toLowerCase() as ClusterHealth['status'],
    nodes: found.number_of_nodes,
    unassignedShards: found.unassigned_shards,
    missing,
    red,
    hasWhole: missing.length + red.length < aliases.size,
  };
}

function isRed(status: string | undefined): boolean {
  return status?.toLowerCase() === 'red';
}
