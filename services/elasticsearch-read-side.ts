import { setTimeout as delay } from 'node:timers/promises';
import { type IndexWriter, startIndexWriter, type WriterReport } from '../projections/index-writer.ts';
import type { EventStore } from '../shared/event-store/event-store.ts';
import type { ElasticsearchConnection } from '../shared/read-index/elasticsearch/client.ts';
import {
  createElasticsearchCluster,
  documentDependencies,
  type ElasticsearchCluster,
  isPassing,
} from '../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { ReadIndex } from '../shared/read-index/read-index.ts';
import type { ReadSide, ReadSidePlan } from './read-side.ts';

/** What an operator should know of; the shape of pino's logger. */
export type Report = {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
};

export type ElasticsearchOptions = {
  readonly connection: ElasticsearchConnection;
  readonly space: string;
  readonly report: Report;
};

const LONGEST_WAIT = 5_000;

/**
 * Reads from Elasticsearch. Opening waits for the cluster as long as it takes, makes the indices that are missing and fills
 * them; it rejects with a sentence when the cluster refuses, as with wrong credentials.
 */
export function elasticsearchReadSide({ connection, space, report }: ElasticsearchOptions): ReadSidePlan {
  return {
    graph: { dependencies: documentDependencies },
    async open(graph, log) {
      const { stale } = graph;
      if (stale === undefined) throw new Error('the graph keeps no account of stale documents');
      const cluster = createElasticsearchCluster({ connection, space, registry: graph.registry() });
      try {
        await persistently(report, cluster.ready);
        const options = { log: await nameOfLog(log), anew: !stale.isComplete() };
        const indices = await persistently(report, () => cluster.openIndices(options));
        if (indices.toBuild.length > 0 || options.anew) stale.markAll(indices.toBuild);
        const writer = startIndexWriter({ graph, index: cluster.writer, report: reportWriter(report) });
        if (indices.toBuild.length > 0) {
          report.info({ types: indices.toBuild, documents: writer.status().backlog }, 'building the indices');
          await Promise.race([writer.atRest(), writer.done]);
          await persistently(report, indices.promote);
        } else {
          await Promise.race([writer.visible(graph.position()), writer.done]);
        }
        await persistently(report, cluster.ready);
        await persistently(report, cluster.writer.refresh);
        return readSide(cluster, writer, graph.position);
      } catch (error) {
        await cluster.close();
        throw error;
      }
    },
  };
}

function readSide(cluster: ElasticsearchCluster, writer: IndexWriter, position: () => bigint): ReadSide {
  const { reader } = cluster;
  const index: ReadIndex = {
    apply: async () => writer.wake(),
    position,
    search: reader.search,
    follow: reader.follow,
    explain: async (request) => reader.explain(request),
    close: async () => {},
  };
  return {
    index,
    sink: index,
    visible: writer.visible,
    status: writer.status,
    done: writer.done,
    async close() {
      await writer.close();
      await cluster.close();
    },
  };
}

/** A log is known by its first event. */
async function nameOfLog(log: EventStore): Promise<string> {
  for await (const [first] of log.readAll(0n, { batchSize: 1 })) if (first !== undefined) return first.id;
  throw new Error('the log is empty');
}

/** Tries until it succeeds or is refused: a cluster may start after this process, or long after. */
async function persistently<Result>(report: Report, work: () => Promise<Result>): Promise<Result> {
  for (let wait = 250; ; wait = Math.min(LONGEST_WAIT, wait * 2)) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw new Error(`Elasticsearch refuses: ${(error as Error).message}`);
      report.warn({ reason: (error as Error).message }, 'waiting for Elasticsearch');
      await delay(wait);
    }
  }
}

function reportWriter(report: Report): (what: WriterReport) => void {
  return (what) => {
    switch (what.kind) {
      case 'stuck':
        report.warn({ reason: what.reason }, 'Elasticsearch takes no documents, trying again');
        break;
      case 'going on':
        report.warn({}, 'Elasticsearch takes documents again');
        break;
      case 'refused':
        for (const document of what.documents) report.error(document, 'Elasticsearch refuses a document');
    }
  };
}
