import { catchUp } from '../../../projections/graph/projector.ts';
import type { AssetStore } from '../../../shared/asset-store/asset-store.ts';
import type { ContentGraphReader } from '../../../shared/document/entry.ts';
import type { EventStore } from '../../../shared/event-store/event-store.ts';
import type { SchemaRegistry } from '../../../shared/schema/schema-registry.ts';
import { openAccessKey } from '../../access/access-key.ts';
import { importRoles } from '../../access/role-commands.ts';
import { EXISTS_OTHERWISE, reasonTooLarge } from '../../command/import-writer.ts';
import type { Claimant } from '../../fleet/claim-lease.ts';
import { openMembership } from '../../fleet/membership.ts';
import { createPresence, type Presence } from '../../fleet/presence.ts';
import { createEarlyLease, type EarlyLease } from '../../fleet/require-lease.ts';
import { listen } from '../../http/sockets/listen.ts';
import { openContentStore } from '../../process/content-store.ts';
import { assetsAddress, openAssetStore } from '../../stores/open-asset-store.ts';
import { logFolder } from '../../stores/open-event-store.ts';
import { ownAssets } from '../../stores/owned-assets.ts';
import type { ArchiveFile } from '../../strapi/archive.ts';
import type { DefineRoles } from '../../strapi/import-archive.ts';
import { createSoleKeeper, importAsset } from '../../strapi/import-asset.ts';
import type { WriteDocument } from '../../transfer/import-documents.ts';
import { printReplaced } from '../output/print-replaced.ts';
import type { ReadContentTypes } from '../settings/read-content-types.ts';
import type { ImportSettings } from '../settings/settings.ts';
import { LEAD_LOST, leaseForImport } from './lease-for-import.ts';

/** Destination of an import of this process. */
export type ImportTarget = {
  readonly registry: SchemaRegistry;
  /** Content before the import. */
  readonly graph: ContentGraphReader;
  readonly epoch: number;
  readonly write: WriteDocument;
  readonly defineRoles: DefineRoles;
  /** Stores content under its name in the other system. */
  readonly takeAsset: (file: ArchiveFile) => Promise<void>;
};

/**
 * Runs `work` as the leader of the log, in a data directory of this process, and updates the graph with the events that
 * it wrote. Throws DataDirectoryInUse if another process has the directory.
 */
export async function importHere<Result>(
  settings: ImportSettings,
  contentTypes: ReadContentTypes,
  work: (target: ImportTarget) => Promise<Result>,
): Promise<Result> {
  const store = await openContentStore({ ...settings, ...contentTypes, reportReplaced: printReplaced });
  const presence = createPresence();
  // A process that starts in the meantime sees that there is a leader.
  const listener = await listen({ host: '127.0.0.1', port: 0, first: presence.answer });
  const { space } = settings;
  let lease: EarlyLease | undefined;
  try {
    const { log, registry, graph } = store;
    const claimant = await openClaimant(settings, log, presence, listener.url);
    lease = createEarlyLease(claimant);
    const lead = await leaseForImport({ store, definitions: contentTypes.definitions, claimant });
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

/** The importing process, which others can ask whether it is the leader from now on. */
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

/** The store is opened for the first file: most archives of content alone have none. */
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
