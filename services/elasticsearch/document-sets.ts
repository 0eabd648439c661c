import { createElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { IndexSpread } from '../../shared/read-index/elasticsearch/indices/create-index.ts';
import { isLiveSet, ownIndices } from '../../shared/read-index/elasticsearch/indices/index-sets.ts';
import { createLeaderFence } from '../../shared/read-index/elasticsearch/indices/leader-fence.ts';
import { removeSet } from '../../shared/read-index/elasticsearch/indices/remove-set.ts';
import { sweepSets } from '../../shared/read-index/elasticsearch/indices/sweep-sets.ts';
import type { DenormaliseSettings } from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import {
  createElasticsearchClient,
  type ElasticsearchConnection,
} from '../../shared/read-index/elasticsearch/wire/client.ts';
import type { OutsideIndices } from '../read-side/outside-indices.ts';
import { recordSet } from './index-identities.ts';
import { mergeFilled } from './merge-filled.ts';
import { nameOfLog } from './name-of-log.ts';
import type { Report } from './report.ts';
import { retryOutages } from './retry-outages.ts';

export type DocumentSetsOptions = {
  readonly connection: ElasticsearchConnection;
  readonly spread: IndexSpread;
  /** Default copies of relations in documents of content types. */
  readonly denormalise: DenormaliseSettings;
  readonly space: string;
  readonly report: Report;
};

const NEVER = new AbortController().signal;

/** Opens the index sets of a namespace. Calls wait for an unreachable cluster, except cleaning up. */
export function documentSets(options: DocumentSetsOptions): OutsideIndices {
  const { connection, spread, denormalise, space, report } = options;
  const wait = async <Result>(work: () => Promise<Result>): Promise<Result> =>
    (await retryOutages(report, NEVER, work)) as Result;
  const withClient = async <Result>(
    use: (client: ReturnType<typeof createElasticsearchClient>) => Promise<Result>,
  ): Promise<Result> => {
    const client = createElasticsearchClient(connection);
    try {
      return await use(client);
    } finally {
      await client.close();
    }
  };
  return {
    async open(registry, log, directory) {
      const cluster = createElasticsearchCluster({ connection, spread, denormalise, space, registry });
      const name = await nameOfLog(log);
      const sets = cluster.sets(name, directory);
      return {
        live: () => wait(sets.live),
        plan: (scope) => wait(() => sets.plan(scope)),
        fits: (set) => wait(() => sets.fits(set)),
        async promote(set, epoch) {
          const isPromoted = await wait(() => sets.promote(set, epoch));
          // The next leader would otherwise take the set for one to which somebody has moved the aliases.
          if (isPromoted) await wait(() => recordSet(cluster.watched, name, set));
          return isPromoted;
        },
        async make(set) {
          await wait(() => sets.make(set));
          await wait(cluster.ready);
        },
        async merge(set, signal) {
          const live = await wait(sets.live);
          const filled = Object.entries(set).flatMap(([alias, index]) =>
            live[alias] === index ? [] : [index],
          );
          await mergeFilled(cluster, filled, { report, signal });
        },
        documents(set) {
          cluster.use(set);
          const { stored } = cluster;
          return {
            index: cluster.createWriter(),
            stored: {
              ...stored,
              read: (documents) => wait(() => stored.read(documents)),
              sumsAfter: (...from) => wait(() => stored.sumsAfter(...from)),
            },
          };
        },
        close: cluster.close,
      };
    },
    newestEpoch: () => withClient((client) => wait(createLeaderFence(client, space).newest)),
    isLive: (set) => withClient((client) => wait(() => isLiveSet(client, space, set))),
    own: (set) => withClient((client) => wait(() => ownIndices(client, space, set))),
    remove: (set) => withClient((client) => removeSet(client, space, set)),
    sweep: (sweep) => withClient((client) => sweepSets({ client, space, ...sweep })),
  };
}
