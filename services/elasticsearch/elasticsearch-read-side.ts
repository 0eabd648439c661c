import {
  type ParkedDocuments,
  type StaleDocuments,
  staleDocumentsOf,
} from '../../projections/graph/stale/stale-documents.ts';
import { writerStatus } from '../../projections/index-writer/writer-report.ts';
import {
  createElasticsearchCluster,
  documentDependencies,
} from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { StoredKey } from '../../shared/read-index/stored-documents.ts';
import { addSynonyms, type InstalledSynonyms } from '../../shared/schema/add-synonyms.ts';
import { readLease } from '../fleet/lease-view.ts';
import type { IndexContents, ReadSide, ReadSidePlan, ServedIndices } from '../read-side/read-side.ts';
import { forgetLostClaim, ownerStateOf, ownStore } from '../stores/ownership.ts';
import { awaitDocuments } from './await-documents.ts';
import { createClusterIndex } from './cluster-index.ts';
import { type DocumentRole, type DocumentRoleOptions, NO_DOCUMENTS } from './document-role.ts';
import { type DocumentSetsOptions, documentSets } from './document-sets.ts';
import { faultsNow } from './faults-now.ts';
import { leadDocuments } from './lead-documents.ts';
import { nameOfLog } from './name-of-log.ts';
import { progressInHistory } from './progress-in-history.ts';
import { createReport } from './report.ts';
import { createRoleWaits } from './role-waits.ts';

export type ElasticsearchOptions = DocumentSetsOptions & {
  /** Synonyms of the installation, added to those of the schemas. */
  readonly synonyms: InstalledSynonyms;
  /** See `createElasticsearchCluster`. */
  readonly rowCacheBytes: number;
  /** True if an earlier worker of this server has answered. */
  readonly hasServed?: boolean;
  /** True to take the indices over from another log. */
  readonly adopt: boolean;
};

/** Reads from Elasticsearch. Sends nothing to the cluster before `lead` or `standBy`. */
export function elasticsearchReadSide(options: ElasticsearchOptions): ReadSidePlan {
  const { space, adopt } = options;
  const report = createReport(options.report, options.hasServed ?? false);
  return {
    graph: { dependencies: (registry) => documentDependencies(registry, options.denormalise) },
    outside: documentSets(options),
    async open(graph, log, indices) {
      const stale = staleDocumentsOf(graph);
      const registry = addSynonyms(graph.registry(), options.synonyms);
      const cluster = createElasticsearchCluster({ ...options, registry });
      try {
        const isNewest = async (epoch: number) => (await readLease(log, space)).epoch <= epoch;
        const name = `the indices ${space}-* in Elasticsearch`;
        const owned = { name, option: '--space or --read-index', store: cluster.owner };
        const named = { log: await nameOfLog(log) };
        const progress = progressInHistory(cluster.progress(named.log), log);
        const ownership = { log, space, adopt };
        let mayForget = indices.kind === 'live' && indices.isRestored === true;
        const own = async () => {
          if (mayForget) await forgetLostClaim(owned, ownership);
          mayForget = false;
          // This comes before the log becomes the owner, so that it is repeated after a crash in between.
          if (adopt && (await ownerStateOf(owned, ownership)) === 'lost') stale.invalidate();
          return ownStore(owned, ownership);
        };
        return readSide({ cluster, graph, stale, ...named, progress, report, isNewest, own }, indices);
      } catch (error) {
        await cluster.close();
        throw error;
      }
    },
  };
}

type Opened = Omit<DocumentRoleOptions, 'isWhole'>;

const LIVE: ServedIndices = { kind: 'live' };

function readSide(opened: Opened, indices: ServedIndices): ReadSide {
  const { cluster, graph, stale } = opened;
  if (indices.kind !== 'live') cluster.use(indices.set);
  const done = Promise.withResolvers<void>();
  // The caller of this function handles the rejection.
  done.promise.catch(() => {});
  let role = NO_DOCUMENTS;
  let writtenBefore = 0;
  let repairs = 0;
  const repaired = () => {
    repairs++;
  };
  /** Indices that were once found or made complete remain complete, whichever process writes them. */
  let isWhole = false;
  /** Indices of this generation; `live` when it has become the live one. */
  let own = indices;
  let isRetired = false;
  const waits = createRoleWaits(() => role);
  const ended: Promise<void>[] = [];
  const become = async (next: (isWhole: boolean) => DocumentRole): Promise<boolean> => {
    role.stop();
    writtenBefore += role.written();
    const mine = next(isWhole);
    role = mine;
    ended.push(mine.ended.catch(done.reject));
    waits.changed();
    const isReady = (await mine.ready) && role === mine;
    isWhole ||= isReady;
    if (isReady) opened.report.hasServed = true;
    return isReady;
  };
  const purgingLeader = cluster.purgingLeader(opened.log);
  const write = (written: ServedIndices, epoch: number) =>
    become((whole) => leadDocuments({ ...opened, repaired, indices: written, isWhole: whole, epoch }));
  const index = createClusterIndex(cluster, { apply: async () => role.wake(), position: graph.position });
  return {
    index,
    sink: index,
    visible: waits.visible,
    shows: waits.shows,
    contents: () => ({
      ...comparedDocuments(opened, () => role),
      kind: 'documents',
      watch: opened.cluster.watch,
      status: () => writerStatus(stale, writtenBefore + role.written()),
      parked: parkedDocuments(stale, () => role),
      purgingLeader,
      shown: () => role.shown(),
      faults: () => faultsNow(cluster),
      repairs: () => repairs,
    }),
    announce: () => role.announcing.start(),
    lead(epoch) {
      const mine = own;
      own = LIVE;
      return write(mine, epoch);
    },
    async standBy() {
      if (isRetired) return isWhole;
      // Another process serves the live indices while this one fills its own.
      if (own.kind === 'next') return write(own, 0);
      return become((whole) => awaitDocuments({ ...opened, isWhole: whole }));
    },
    writesHere: () => role.writes,
    async retire() {
      isRetired = true;
      await role.announcing.stop();
    },
    done: done.promise,
    async close() {
      await role.close();
      await Promise.all(ended);
      await cluster.close();
      done.resolve();
    },
  };
}

type Documents = Extract<IndexContents, { readonly kind: 'documents' }>;

/** Reads documents for a comparison. Only the writer can `remake` them. */
function comparedDocuments(
  { cluster, graph, stale }: Opened,
  role: () => DocumentRole,
): Pick<Documents, 'stored' | 'present' | 'remake'> {
  // The writer is that of the indices in use now.
  const { present, write } = cluster.createWriter();
  return {
    stored: cluster.stored,
    present,
    async remake(documents) {
      requireWriter(role());
      const inspection = graph.inspect();
      const isKnown = ({ key }: StoredKey) => inspection.nameOf(key) !== undefined;
      stale.remake(documents.filter(isKnown));
      role().wake();
      // The log has no row that could be stale: removes these documents at once.
      const removals = documents
        .filter((document) => !isKnown(document))
        .map((document) =>
          present({ ...document, position: graph.position() }, inspection.world(document.world)),
        );
      const outcomes = removals.length > 0 ? await write(removals, { refresh: true }) : [];
      for (const outcome of outcomes)
        if (outcome.kind !== 'written') throw new Error(`a document cannot be removed: ${outcome.reason}`);
      role().repairing();
    },
  };
}

function requireWriter({ writes }: DocumentRole): void {
  if (!writes) throw new Error('this process does not write the documents: ask the leader');
}

/** Lists parked documents. Only the writer can retry or drop them. */
function parkedDocuments({ parked }: StaleDocuments, role: () => DocumentRole): ParkedDocuments {
  const decide = (work: () => number): number => {
    requireWriter(role());
    const count = work();
    if (count > 0) role().wake();
    return count;
  };
  return {
    list: parked.list,
    all: parked.all,
    at: parked.at,
    of: parked.of,
    retry: (documents) => decide(() => parked.retry(documents)),
    drop: (documents) => decide(() => parked.drop(documents)),
  };
}
