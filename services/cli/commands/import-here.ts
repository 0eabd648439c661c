import { catchUp, catchUpOrThrow } from '../../../projections/graph/projector.ts';
import type { AssetStore } from '../../../shared/asset-store/asset-store.ts';
import type { EventStore } from '../../../shared/event-store/event-store.ts';
import { type Lead, leadOf } from '../../../shared/fleet/lease.ts';
import { openAccessKey } from '../../access/access-key.ts';
import { importRoles } from '../../access/role-commands.ts';
import { EXISTS_OTHERWISE, reasonTooLarge } from '../../command/import-writer.ts';
import { refuseOtherDefaultLocale } from '../../content-types/refuse-other-default-locale.ts';
import { type SettleOptions, settleContentTypes } from '../../content-types/settle-content-types.ts';
import { type Claimant, returnLease } from '../../fleet/claim-lease.ts';
import { readLease } from '../../fleet/lease-view.ts';
import { openMembership } from '../../fleet/membership.ts';
import { createPresence, type Presence } from '../../fleet/presence.ts';
import { createEarlyLease, type EarlyLease, requireLease } from '../../fleet/require-lease.ts';
import { listen } from '../../http/sockets/listen.ts';
import { type ContentStore, openContentStore } from '../../process/content-store.ts';
import { assetsAddress, openAssetStore } from '../../stores/open-asset-store.ts';
import { logFolder } from '../../stores/open-event-store.ts';
import { ownAssets } from '../../stores/owned-assets.ts';
import type { ArchiveImport } from '../../strapi/import-archive.ts';
import { createSoleKeeper, importAsset } from '../../strapi/import-asset.ts';
import type { DocumentImport, WriteDocument } from '../../transfer/import-documents.ts';
import { printReplaced } from '../output/log-reports.ts';
import type { ReadContentTypes } from '../settings/read-content-types.ts';
import type { ImportSettings } from '../settings/settings.ts';

/** Destination of an import of this process. */
export type ImportTarget = Pick<DocumentImport, 'registry' | 'graph' | 'epoch' | 'write'> &
  Pick<ArchiveImport, 'defineRoles' | 'takeAsset'>;

/**
 * Runs `work` as the leader of the log, in a data directory of this process, and updates the graph with the events that it wrote. Throws
 * DataDirectoryInUse if another process has the directory.
 */
export async function importHere<Result>(
  settings: ImportSettings,
  contentTypes: ReadContentTypes,
  work: (target: ImportTarget) => Promise<Result>,
): Promise<Result> {
  const store = await openContentStore({
    data: { ...settings, reportReplaced: printReplaced },
    content: contentTypes,
  });
  const presence = createPresence();
  // A process that starts in the meantime sees that there is a leader.
  const listener = await listen({ host: '127.0.0.1', port: 0, first: presence.answer });
  const { space } = settings;
  let lease: EarlyLease | undefined;
  try {
    const { log, registry, graph } = store;
    const claimant = await openClaimant(settings, log, presence, listener.url);
    lease = createEarlyLease(claimant);
    const lead = await leaseForImport(claimant, graph, contentTypes);
    const write: WriteDocument = async ({ stream, events }) => {
      const result = await store.log.append(stream, 'none', events, lead.fence).catch(reasonTooLarge);
      if (typeof result === 'string') return [result];
      if (result.kind === 'fenced') throw new Error(LEAD_LOST);
      return result.kind === 'appended' ? [] : [EXISTS_OTHERWISE];
    };
    const takeAsset = assetTaker(settings, log);
    const written = { write, takeAsset, defineRoles: importRoles({ log, space }) };
    const result = await work({ registry, graph: graph.reader, epoch: lead.epoch, ...written });
    await catchUp(log, graph);
    await lead.giveBack();
    return result;
  } finally {
    await lease?.close().catch(() => {});
    await listener.drain(0);
    await store.close();
  }
}

/** Opens this process as a claimant of the lease. From now on other processes can ask it whether it is the leader. */
async function openClaimant(
  settings: ImportSettings,
  log: EventStore,
  presence: Presence,
  address: string,
): Promise<Claimant> {
  const { space, accessKey: given } = settings;
  const { owner } = presence;
  const key = await openAccessKey({ log, space, folder: logFolder(settings), given });
  const membership = openMembership({ log, space, owner, key });
  presence.join(membership);
  return { log, space, owner, address, now: () => new Date().toISOString(), membership };
}

/** Returns a function that stores a file. It opens the store for the first file, because many archives have no files. */
function assetTaker(settings: ImportSettings, log: EventStore): ImportTarget['takeAsset'] {
  const { space } = settings;
  let opening: Promise<AssetStore> | undefined;
  const open = async (): Promise<AssetStore> => {
    const address = assetsAddress(settings);
    const owned = ownAssets(await openAssetStore(address), address, { log, space, adopt: false });
    await owned.own();
    return owned.store;
  };
  return async (file) => {
    opening ??= open();
    const store = await opening;
    await importAsset(store, file, createSoleKeeper(store, space));
  };
}

type ImportLease = Lead & {
  /** Steps down after the graph has caught up with the import. Rejects with a message if the lease was lost. */
  giveBack(): Promise<void>;
};

const LEAD_LOST =
  'another process took over while this one was stopped: run the import again, imported documents are not written twice';

/**
 * Makes this process the leader of its log, because only a leader writes, and brings its content types into force. Rejects with a message
 * if there is another leader, or the log has an event that this program cannot read.
 */
async function leaseForImport(
  claimant: Claimant,
  graph: ContentStore['graph'],
  { definitions, refuseLosses }: ReadContentTypes,
): Promise<ImportLease> {
  const { log, space, owner } = claimant;
  // This precedes the claim: a process that cannot read the log must not take the lease from one that can.
  await catchUpOrThrow(log, graph);
  await requireLease(claimant);
  const refuse: SettleOptions['refuse'] = (changed) => {
    refuseOtherDefaultLocale(changed, graph);
    refuseLosses(graph.effectsOf(changed));
  };
  await settleContentTypes({ claimant, graph, definitions, waiting: () => {}, refuse });
  const lease = await readLease(log, space);
  if (lease.leader?.owner !== owner) throw new Error(LEAD_LOST);
  const lead = leadOf(space, lease);
  return {
    ...lead,
    async giveBack() {
      if (!(await log.checksConditions()) && graph.epochAt(graph.position() + 1n) !== lead.epoch) {
        throw new Error(
          'another process took over while this one was stopped: later events of the import have no effect. Stop that process and import into a new log',
        );
      }
      await returnLease(claimant, lease);
    },
  };
}
