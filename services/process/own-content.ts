import { defined } from '../../shared/defined.ts';
import { tagKey } from '../access/derived-keys.ts';
import type { OwnTypes } from '../content-types/deferred-change.ts';
import { assertWholeLease, createLeaseView, readLeaseUpTo } from '../fleet/lease-view.ts';
import { createPeople } from '../login/people.ts';
import { traceReadIndex } from '../operating/observe-read-index.ts';
import type { OperatorContext } from '../operator/operation.ts';
import { openPurgeNotes } from '../purge/purge-notes.ts';
import { leadReadSide } from '../read-side/lead-read-side.ts';
import { documentsOf, type ReadSide } from '../read-side/read-side.ts';
import { assetsAddress, openAssetStore } from '../stores/open-asset-store.ts';
import { logFolder } from '../stores/open-event-store.ts';
import { type ContentStore, openContentStore } from './content-store.ts';
import { createFreshness } from './freshness.ts';
import { openCallers, openIdentity } from './identity.ts';
import type { Opened } from './opened.ts';
import type { VarveOptions } from './process-options.ts';
import { createReportedReads } from './reported-reads.ts';
import { watchChanges } from './watch-changes.ts';

/** Parts of a process with a data directory that are there before its content types are in force. */
export type OwnBase = Awaited<ReturnType<typeof openOwnBase>>;

export async function openOwnBase(options: VarveOptions, opened: Opened) {
  const { space, login, address, presence } = options;
  const { owner } = presence;
  // First, as it may refuse: nothing has to be undone then.
  const assets = await openAssetStore(assetsAddress(options));
  const store = opened(await openContentStore(options, options.readSide));
  const { log, graph, generations } = store;
  // Whichever is open by then: content types that change may have one opened before the content is.
  opened({ close: generations.closeReadSide });
  const identity = await openIdentity({ ...options, log, folder: logFolder(options), owner });
  const { membership } = identity;
  presence.join(membership);
  const callers = await openCallers(identity, { login, people: createPeople(graph.reader), address }, opened);
  await assertWholeLease(log, space, graph.epochAt(graph.position() + 1n));
  const now = () => new Date().toISOString();
  return { assets, store, identity, callers, claimant: { log, space, owner, address, now, membership } };
}

/** Content of a process with a data directory, as its graph is before the log is followed. */
export type OwnContent = Awaited<ReturnType<typeof openOwnContent>>;

export async function openOwnContent(
  options: VarveOptions,
  { store, identity, callers }: OwnBase,
  { registry, definitions }: OwnTypes,
  opened: Opened,
) {
  const { log, graph, generations } = store;
  const { access } = callers;
  const lease = await readLeaseUpTo(log, options.space);
  const readSide = await generations.openReadSide();
  const view = createLeaseView(options.space, lease);
  const freshness = createFreshness({ readSide, access, log, waitMs: options.minPositionWait });
  const notes =
    options.purges &&
    opened(
      await openPurgeNotes({
        data: options.data,
        log,
        registry,
        key: tagKey(identity.key),
        rights: () => access.authenticate(undefined),
        position: graph.position,
        report: options.purges.report,
      }),
    );
  const documents = documentsOf(readSide);
  const reported = documents && options.tagging && opened(createReportedReads(options.lifetime, documents));
  const watched = { graph, index: readSide.index, sink: freshness.sink, notes };
  return {
    ...(await watchChanges(watched)),
    registry,
    definitions,
    index: traceReadIndex(readSide.index, options.operating.tracing),
    graph,
    freshness,
    readSide,
    led: leadReadSide(readSide, options.generation !== undefined),
    view,
    notes,
    documents,
    reported,
  };
}

/** Context of operators' requests to any process with a data directory. */
export function operatorContext(
  { data, space, pid, schemaWarnings, build }: VarveOptions,
  { log, graph, generations }: ContentStore,
  readSide: ReadSide,
): OperatorContext {
  return {
    data,
    space,
    log,
    graph,
    generations,
    server: { pid },
    schemaWarnings,
    ...defined({ build }),
    readSide: async () => readSide,
  };
}
