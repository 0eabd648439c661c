import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import { defined } from '../../shared/defined.ts';
import { createEffectiveEvents } from '../../shared/fleet/effective-events.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { searchKey, tagKey } from '../access/derived-keys.ts';
import type { OwnTypes, SettledTypes } from '../content-types/deferred-change.ts';
import { watchTags } from '../delivery/watch-tags.ts';
import { assertWholeLease, createLeaseView, readLeaseUpTo } from '../fleet/lease-view.ts';
import { createPeople } from '../login/people.ts';
import { traceReadIndex } from '../operating/observe-read-index.ts';
import type { OperatorContext } from '../operator/operation.ts';
import { openChangedRows } from '../purge/changed-rows.ts';
import type { PurgeSettings } from '../purge/open-purger.ts';
import { openPurgeNotes, type PurgeNotes } from '../purge/purge-notes.ts';
import { watchPurgingLeader } from '../purge/purging-leader.ts';
import { leadReadSide } from '../read-side/lead-read-side.ts';
import { documentsOf, type ReadSide } from '../read-side/read-side.ts';
import { rebuildsOf } from '../rebuild/rebuilds-of.ts';
import { openSearchLog } from '../searches/open-search-log.ts';
import { readState } from '../state/state.ts';
import { assetsAddress, openAssetStore } from '../stores/open-asset-store.ts';
import { logFolder } from '../stores/open-event-store.ts';
import { forgetLostClaim } from '../stores/ownership.ts';
import { openSynonyms } from '../synonyms/open-synonyms.ts';
import { type ContentStore, openContentStore } from './content-store.ts';
import { createFreshness } from './freshness.ts';
import { openCallers, openIdentity } from './identity.ts';
import type { Opened } from './opened.ts';
import type { VarveOptions } from './process-options.ts';

/** Parts of a process with a data directory that exist before its content types are in force. */
export type OwnBase = Awaited<ReturnType<typeof openOwnBase>>;

/**
 * Opens the asset store, the log and the graph, and reads the access rights. Rejects with a message if the directory, the log or the asset
 * store cannot be used.
 */
export async function openOwnBase(options: VarveOptions, opened: Opened) {
  const { space } = options.data;
  const { login } = options.access;
  const { address, presence, mayLead } = options.fleet;
  const { processes, pid } = options.worker;
  const { owner } = presence;
  // The asset store is opened first. If it refuses, nothing has to be undone.
  const assets = await openAssetStore(assetsAddress(options.data));
  const store = opened(await openContentStore(options, options.readSide));
  const { log, graph, generations } = store;
  if (store.isRestored) await forgetLostClaim({ store: assets.owner }, { log, space });
  // Closes the read side that is open then.
  opened({ close: generations.closeReadSide });
  const identity = await openIdentity({
    ...options.access,
    space,
    log,
    folder: logFolder(options.data),
    owner,
  });
  const { membership } = identity;
  presence.join(membership);
  // Reading workers are a part of the process that has the data directory.
  if (mayLead !== false) opened(processes).join({ log, space, membership, pid, address });
  const callers = await openCallers(identity, { login, people: createPeople(graph.reader), address }, opened);
  const synonyms = opened(await openSynonyms(log, space));
  await assertWholeLease(log, space, graph.epochAt(graph.position() + 1n));
  const now = () => new Date().toISOString();
  return {
    assets,
    store,
    identity,
    callers,
    synonyms,
    searches: openSearches(options, identity.key, opened),
    claimant: { log, space, owner, address, now, membership },
  };
}

/** Opens the counts of searches, if the options say so. */
function openSearches({ data: { searches }, fleet }: VarveOptions, accessKey: Uint8Array, opened: Opened) {
  if (searches === undefined) return undefined;
  const key = searchKey(accessKey);
  return opened(openSearchLog({ ...searches, key, now: Date.now, isFirst: fleet.mayLead !== false }));
}

/** Content of a process with a data directory, in the state before the projector starts. */
export type OwnContent = Awaited<ReturnType<typeof openOwnContent>>;

/** Opens the index of the graph as it is now. `runContent` keeps both up to date from then on. */
export async function openOwnContent(
  options: VarveOptions,
  base: OwnBase,
  { registry, definitions, deferred }: SettledTypes,
  opened: Opened,
) {
  const { store, callers, synonyms } = base;
  const { log, graph, generations } = store;
  const { minPositionWait: waitMs } = options.fleet;
  const { space } = options.data;
  const { purges, lifetime } = options.caches;
  const lease = await readLeaseUpTo(log, space);
  const readSide = await generations.openReadSide(store.isRestored);
  const view = createLeaseView(space, lease);
  const freshness = createFreshness({ readSide, access: callers.access, synonyms, log, waitMs });
  const notes = purges && opened(await openNotes(options.data, purges, base, registry));
  const documents = documentsOf(readSide);
  const purging = documents && opened(watchPurgingLeader(documents.purgingLeader, lifetime));
  const watched = {
    graph,
    index: readSide.index,
    sink: freshness.sink,
    notes,
  };
  return {
    ...(await watchChanges(watched)),
    registry,
    definitions,
    deferred,
    index: traceReadIndex(readSide.index, options.operating.tracing),
    graph,
    freshness,
    readSide,
    led: leadReadSide(readSide, options.fleet.generation !== undefined),
    view,
    notes,
    documents,
    purging,
  };
}

/** Opens the record of changes that have to be purged from caches. */
function openNotes(
  { data, space }: VarveOptions['data'],
  { report }: PurgeSettings,
  { store: { log, graph }, identity, callers: { access } }: OwnBase,
  registry: OwnTypes['registry'],
) {
  return openPurgeNotes({
    data,
    events: createEffectiveEvents(log, space),
    registry,
    key: tagKey(identity.key),
    rights: () => access.authenticate(undefined),
    position: graph.position,
    report,
  });
}

/** Context of operators' requests to any process with a data directory. */
export function operatorContext(
  { data: { data, space }, content, worker, readSide: plan }: VarveOptions,
  { log, graph, generations }: ContentStore,
  readSide: ReadSide,
): OperatorContext {
  const { schemaWarnings, codeNotes } = content;
  const { pid, build, command, processes } = worker;
  return {
    data,
    space,
    log,
    graph,
    generations,
    server: { pid },
    schemaWarnings,
    codeNotes,
    rebuilds: rebuildsOf({ data, plan, store: generations.store, abandon: generations.abandon }),
    state: () =>
      readState({
        processes: processes.list,
        cluster: documentsOf(readSide)?.watch,
        webhooks: () => null,
        purges: () => null,
      }),
    ...defined({ build, command }),
    readSide: async () => readSide,
  };
}

type Watched = {
  readonly graph: Pick<ContentGraph, 'registry' | 'readAll'>;
  readonly index: ReadIndex;
  readonly sink: Pick<ReadIndex, 'apply'>;
  /** Absent: nothing is purged. */
  readonly notes: Pick<PurgeNotes, 'changed'> | undefined;
};

/** Notes the tags of each change. With an index outside the process that is done only for purges, and needs all rows in memory. */
async function watchChanges({ graph, index, sink, notes }: Watched): Promise<ReturnType<typeof watchTags>> {
  const registry = () => graph.registry();
  if (index.local !== undefined || notes === undefined)
    return watchTags(sink, index, registry, notes?.changed);
  const own = await openChangedRows(graph, sink);
  return { sink: watchTags(own.sink, own.rows, registry, notes.changed).sink };
}
