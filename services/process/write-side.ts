import type { Projector } from '../../projections/graph/projector.ts';
import { rolesOf } from '../../shared/access/login-state.ts';
import type { AssetStore } from '../../shared/asset-store/asset-store.ts';
import { defined } from '../../shared/defined.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { UnreadableEvent } from '../../shared/event-store/unreadable.ts';
import type { Lead } from '../../shared/fleet/lease.ts';
import { createLocks } from '../../shared/locks.ts';
import type { Uid } from '../../shared/schema/content-type.ts';
import { notInForce } from '../../shared/schema/type-definitions.ts';
import { uploadNames } from '../access/derived-keys.ts';
import { createFileLibrary, type FileLibrary } from '../assets/file-library.ts';
import { createPictureResizer } from '../assets/pictures/picture-resizer.ts';
import { type CommandHandler, createCommandHandler } from '../command/command-handler.ts';
import { documentLock } from '../command/commit.ts';
import { currentAuthor } from '../command/current-author.ts';
import { randomDocumentId } from '../command/document-id.ts';
import type { CommandEnvironment } from '../command/environment.ts';
import { createImportWriter } from '../command/import-writer.ts';
import { newCommandKey } from '../command/new-command-key.ts';
import { NotLeading } from '../command/not-leading.ts';
import { createTogether } from '../command/publish-together.ts';
import { appendDefinitions } from '../content-types/append-definitions.ts';
import { parkedRefusal } from '../elasticsearch/parked-refusal.ts';
import { type Fleet, joinFleet } from '../fleet/fleet.ts';
import { fromLog } from '../fleet/lease-terms.ts';
import { identifyLog } from '../fleet/log-identity.ts';
import { createFollowWriter } from '../follow/follow-writer.ts';
import { assetsAddress } from '../stores/open-asset-store.ts';
import { type OwnedAssets, ownAssets } from '../stores/owned-assets.ts';
import type { DiskWatch } from './disk-watch.ts';
import type { OwnBase, OwnContent } from './own-content.ts';
import type { VarveOptions } from './process-options.ts';

export type WriteSideParts = {
  readonly base: OwnBase;
  readonly content: OwnContent;
  readonly projector: Projector;
  /** Event store for the commands' appends. */
  readonly eventStore: EventStore;
  readonly diskWatch: Pick<DiskWatch, 'heard' | 'refuseWithoutGraph'>;
};

/** Write side of a process that can lead: carries commands out while it is the leader. */
export type WriteSide = ReturnType<typeof openWriteSide>;

/** Opens commands, imports and uploads, and joins the fleet: from now on this process may become the leader. */
export function openWriteSide(options: VarveOptions, parts: WriteSideParts) {
  const { log, space } = parts.base.claimant;
  const place = assetsAddress(options.data);
  const owned = ownAssets(parts.base.assets, place, { log, space, adopt: options.data.adopt ?? false });
  const fleet = joinFleetOf(options, parts, owned);
  const environment = environmentOf(options, parts, fleet);
  const locks = createLocks();
  const commands = createCommandHandler(environment, locks);
  return {
    commands,
    environment,
    together: createTogether(environment, locks),
    imports: createImportWriter(environment, locks),
    /** Runs work while nothing else changes a document. */
    holdDocument: <Result>(type: Uid, documentId: string, work: () => Promise<Result>) =>
      locks.run([documentLock(type, documentId)], work),
    library: openLibrary(options, parts, { store: owned.store, commands }),
    follower: createFollowWriter(environment, locks),
    fleet,
    /** Uploaded files. The store refuses to write to files of another log. */
    assets: owned.store,
  };
}

function joinFleetOf(
  options: VarveOptions,
  { base, content, projector, diskWatch }: WriteSideParts,
  owned: OwnedAssets,
): Fleet {
  const { claimant } = base;
  const { log, space, membership } = claimant;
  const { graph } = base.store;
  return joinFleet({
    claimant,
    view: content.view,
    report(what) {
      diskWatch.heard(what);
      options.fleet.fleetLog.report(what);
    },
    epochAt: graph.epochAt,
    position: graph.position,
    applied: projector.applied,
    ...defined({ mayLead: options.fleet.mayLead, turn: options.fleet.claimsFrom }),
    async beginTerm(lead: Lead) {
      const isCopy = membership?.isCopy() === true;
      await identifyLog(log, space, isCopy).catch((error: unknown) => {
        // A full disk does not end the process, because the next term gives the log its identity. But a copy must not
        // be mistaken for the original.
        if (isCopy) throw error;
      });
      membership?.noteCopy(false);
      await owned.own();
      const defined = { at: claimant.now(), lead, owner: claimant.owner };
      await fromLog(
        appendDefinitions(log, space, notInForce(content.definitions, graph.definition), defined),
      );
      await projector.applied(await fromLog(log.lastPosition()));
      await content.led.lead(lead.epoch);
    },
    standBy: content.led.standBy,
  });
}

function environmentOf(
  options: VarveOptions,
  { base, content, projector, eventStore, diskWatch }: WriteSideParts,
  fleet: Fleet,
): CommandEnvironment {
  const { access } = base.callers;
  return {
    eventStore,
    graph: base.store.graph.reader,
    applied: (position) => projector.applied(position).catch(refuseAsNotLeading),
    visible: content.readSide.visible,
    ...defined({ refusal: content.documents && parkedRefusal(content.documents.parked) }),
    registry: () => content.registry,
    defaultLocale: options.content.defaultLocale,
    space: options.data.space,
    lead() {
      diskWatch.refuseWithoutGraph();
      const lead = fleet.lead();
      if (lead === undefined) throw new NotLeading();
      return lead;
    },
    counts: fleet.counts,
    author: currentAuthor,
    ...defined({ strictRelations: options.strapi.strictRelations }),
    userPasswords: options.access.login?.passwords?.scheme ?? 'argon2',
    roles: () => new Set(rolesOf(access.state().login).keys()),
    now: () => new Date(),
    newDocumentId: randomDocumentId,
    newEventId: newCommandKey,
  };
}

function openLibrary(
  options: VarveOptions,
  { base, content }: WriteSideParts,
  parts: { readonly store: AssetStore; readonly commands: CommandHandler },
): FileLibrary {
  const {
    picturePixels: maxPixels,
    uploadLimit,
    uploadTypes,
    pictureFormats,
    leftWithoutFormats,
  } = options.files;
  return createFileLibrary({
    ...parts,
    registry: content.registry,
    graph: base.store.graph.reader,
    index: content.index,
    defaultLocale: options.content.defaultLocale,
    space: options.data.space,
    limits: { maxBytes: uploadLimit, accepted: uploadTypes, maxPixels },
    uploadName: uploadNames(base.identity.key),
    pictures: {
      made: pictureFormats,
      resizer: createPictureResizer({ maxPixels }),
      left: leftWithoutFormats,
    },
  });
}

/** Throws NotLeading if the process cannot read the log up to a position: then it is no longer the leader. */
function refuseAsNotLeading(error: unknown): never {
  throw error instanceof UnreadableEvent ? new NotLeading() : error;
}
