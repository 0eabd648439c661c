import type { ContentGraph } from '../../projections/graph/content-graph.ts';
import type { Projector } from '../../projections/graph/projector.ts';
import type { AssetStore } from '../../shared/asset-store/asset-store.ts';
import { defined } from '../../shared/defined.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { UnreadableEvent } from '../../shared/event-store/unreadable.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { createFileLibrary, type FileLibrary, type FileLibraryOptions } from '../assets/file-library.ts';
import type { UploadLimits } from '../assets/receive-upload.ts';
import { type CommandHandler, createCommandHandler } from '../command/command-handler.ts';
import { currentAuthor } from '../command/current-author.ts';
import { randomDocumentId } from '../command/document-id.ts';
import type { CommandEnvironment } from '../command/environment.ts';
import { createImportWriter, type ImportWriter } from '../command/import-writer.ts';
import { createLocks } from '../command/locks.ts';
import { newCommandKey } from '../command/new-command-key.ts';
import { NotLeading } from '../command/not-leading.ts';
import type { PasswordScheme } from '../command/password-hashes.ts';
import { appendDefinitions } from '../content-types/append-definitions.ts';
import { notInForce } from '../content-types/definitions-in-force.ts';
import type { Claimant } from '../fleet/claim-lease.ts';
import { type Fleet, type FleetReport, joinFleet } from '../fleet/fleet.ts';
import type { LeaseView } from '../fleet/lease-view.ts';
import { identifyLog } from '../fleet/log-identity.ts';
import { createFollowWriter, type FollowWriter } from '../follow/follow-writer.ts';
import type { LedReadSide } from '../read-side/lead-read-side.ts';

export type WriteSideOptions = {
  readonly claimant: Claimant;
  readonly view: LeaseView;
  /** Event store for the commands' appends. */
  readonly eventStore: EventStore;
  readonly graph: ContentGraph;
  readonly projector: Projector;
  readonly index: ReadIndex;
  readonly visible: (position: bigint) => Promise<void>;
  readonly registry: SchemaRegistry;
  readonly definitions: readonly TypeDefinition[];
  readonly defaultLocale: string;
  readonly assets: AssetStore;
  readonly limits: UploadLimits;
  readonly uploadName: FileLibraryOptions['uploadName'];
  readonly pictures: FileLibraryOptions['pictures'];
  readonly userPasswords: PasswordScheme;
  readonly roles: () => ReadonlySet<number>;
  /** Makes sure that the uploaded files belong to this log. Rejects with a message if they belong to another. */
  readonly own: () => Promise<void>;
  readonly mayLead: boolean | undefined;
  readonly report: (what: FleetReport) => void;
  /** Throws RequestError (503) while new writes could not be shown. */
  readonly refuseWrites: () => void;
  /** Called when this process becomes the leader, and when it is no longer. */
  readonly led: Pick<LedReadSide, 'lead' | 'follow'>;
};

/** Write side of a process that can lead: carries commands out while it is the leader. */
export type WriteSide = {
  readonly commands: CommandHandler;
  readonly imports: ImportWriter;
  readonly library: FileLibrary;
  readonly follow: FollowWriter;
  readonly fleet: Fleet;
};

export function openWriteSide(options: WriteSideOptions): WriteSide {
  const { claimant, view, graph, projector, registry, defaultLocale } = options;
  const { log, space } = claimant;
  const fleet = joinFleet({
    claimant,
    view,
    report: options.report,
    epochAt: graph.epochAt,
    position: graph.position,
    applied: projector.applied,
    ...defined({ mayLead: options.mayLead }),
    async takeOffice(lead) {
      const isCopy = claimant.membership?.isCopy() === true;
      await identifyLog(log, space, isCopy).catch((error: unknown) => {
        // A full disk does not end the process: the next term gives the log its identity. A copy must not be mistaken for
        // the original.
        if (isCopy) throw error;
      });
      claimant.membership?.noteCopy(false);
      await options.own();
      const defined = { at: claimant.now(), lead, owner: claimant.owner };
      await appendDefinitions(log, space, notInForce(options.definitions, graph.definition), defined);
      await projector.applied(await log.lastPosition());
      await options.led.lead(lead.epoch);
    },
    follow: options.led.follow,
  });
  const environment: CommandEnvironment = {
    eventStore: options.eventStore,
    graph: graph.reader,
    applied: (position) => projector.applied(position).catch(refuseAsNotLeading),
    visible: options.visible,
    registry: () => registry,
    defaultLocale,
    space,
    lead() {
      options.refuseWrites();
      const lead = fleet.lead();
      if (lead === undefined) throw new NotLeading();
      return lead;
    },
    counts: fleet.counts,
    author: currentAuthor,
    userPasswords: options.userPasswords,
    roles: options.roles,
    now: () => new Date(),
    newDocumentId: randomDocumentId,
    newEventId: newCommandKey,
  };
  const locks = createLocks();
  const commands = createCommandHandler(environment, locks);
  const library = createFileLibrary({
    registry,
    graph: graph.reader,
    index: options.index,
    commands,
    defaultLocale,
    space,
    store: options.assets,
    limits: options.limits,
    uploadName: options.uploadName,
    pictures: options.pictures,
  });
  const imports = createImportWriter(environment, locks);
  return { commands, imports, library, follow: createFollowWriter(environment, locks), fleet };
}

/** A process that cannot read the log up to there is no longer the leader. */
function refuseAsNotLeading(error: unknown): never {
  throw error instanceof UnreadableEvent ? new NotLeading() : error;
}
