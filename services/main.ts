import { setTimeout as delay } from 'node:timers/promises';
import { appliedUpTo, startProjector } from '../projections/graph/projector.ts';
import { rolesOf } from '../shared/access/login-state.ts';
import { isForeign } from '../shared/event-store/unreadable.ts';
import { USER_TYPE } from '../shared/schema/content-type.ts';
import type { SchemaWarning } from '../shared/schema/schema-problem.ts';
import { openAccessControl } from './access/access-control.ts';
import { openAccessKey } from './access/access-key.ts';
import { type CacheToken, createCacheToken } from './access/cache-token.ts';
import {
  bodyKey,
  cursorKey,
  followKey,
  syncKey,
  tagKey,
  ticketKey,
  uploadNames,
  webhookKey,
} from './access/derived-keys.ts';
import { createRoleCommands, importRoles } from './access/role-commands.ts';
import { createTokenCommands } from './access/token-commands.ts';
import type { AcceptedMedia } from './assets/accepted-media.ts';
import { createPictureResizer } from './assets/pictures/picture-resizer.ts';
import type { FormatsMade, PictureSettings } from './assets/pictures/picture-settings.ts';
import { createChangeFeed } from './changes/change-feed.ts';
import { requestOrOperator } from './command/current-author.ts';
import { changeAhead } from './content-types/change-ahead.ts';
import { type OwnTypes, ownTypes, typesOfGraph } from './content-types/deferred-change.ts';
import {
  refuseOtherTypes,
  type Settling,
  settleContentTypes,
  watchContentTypes,
} from './content-types/settle-content-types.ts';
import { createTypesEnd } from './content-types/types-end.ts';
import type { Lifetime } from './delivery/lifetimes.ts';
import type { TaggingOptions } from './delivery/tagging.ts';
import type { Fleet, FleetReport } from './fleet/fleet.ts';
import { assertWholeLease, createLeaseView, readLeaseUpTo } from './fleet/lease-view.ts';
import { identityOfLog } from './fleet/log-identity.ts';
import { openMembership } from './fleet/membership.ts';
import type { Presence } from './fleet/presence.ts';
import type { FollowApiOptions } from './follow/follow-api.ts';
import { followStrapi } from './follow/follow-strapi.ts';
import type { FollowOptions } from './follow/open-follower.ts';
import { watchFollower } from './follow/watch-follower.ts';
import { openForwarding } from './http/forwarding/open-forwarding.ts';
import { createApis, type ServedApi } from './http/served-api.ts';
import type { LoginPlan } from './login/open-login.ts';
import { createPeople } from './login/people.ts';
import { METRICS } from './operating/metric-definitions.ts';
import { observeEventStore } from './operating/observe-event-store.ts';
import { traceReadIndex } from './operating/observe-read-index.ts';
import { type Operating, registerGauges, watchLead } from './operating/operating.ts';
import type { OperatorContext } from './operator/operation.ts';
import { type ContentStore, type ContentStoreOptions, openContentStore } from './process/content-store.ts';
import { type Meanwhile, serveEarlier } from './process/earlier-generation.ts';
import { createFreshness } from './process/freshness.ts';
import { createHalt } from './process/halt.ts';
import { lateLogin } from './process/late-login.ts';
import { shapeOfShared } from './process/shape-of-shared.ts';
import { createSpaceWatch } from './process/space-watch.ts';
import { watchChanges } from './process/watch-changes.ts';
import { openWriteSide, type WriteSideOptions } from './process/write-side.ts';
import { type Purger, type PurgeSettings, startPurger } from './purge/open-purger.ts';
import { openPurgeNotes } from './purge/purge-notes.ts';
import type { RequestRules } from './query/plan-query.ts';
import { leadReadSide } from './read-side/lead-read-side.ts';
import { documentsOf, type ReadSidePlan } from './read-side/read-side.ts';
import { watchGenerations } from './read-side/watch-generations.ts';
import { createLogHead } from './stores/log-head.ts';
import { assetsAddress, openAssetStore } from './stores/open-asset-store.ts';
import { logFolder } from './stores/open-event-store.ts';
import { ownAssets } from './stores/owned-assets.ts';
import { importAsset } from './strapi/import-asset.ts';
import { openWebhooks } from './webhooks/open-webhooks.ts';
import type { WebhookReport } from './webhooks/term-options.ts';
import type { WebhookLimits } from './webhooks/webhook-limits.ts';

export type VarveOptions = ContentStoreOptions & {
  readonly defaultLocale: string;
  readonly usersEnvelope: boolean;
  readonly readSide: ReadSidePlan;
  readonly rules: RequestRules;
  /** Location of uploaded files, a folder or an s3: address; absent: see assetsAddress. */
  readonly assets?: string | undefined;
  /** Bytes of one uploaded file. */
  readonly uploadLimit: number;
  readonly uploadTypes: AcceptedMedia;
  readonly pictureFormats: FormatsMade;
  /** Pixels of one picture. */
  readonly picturePixels: number;
  /** Called for a picture without formats, with the reason. */
  readonly leftWithoutFormats: PictureSettings['left'];
  /** People sign in; absent: nobody does. */
  readonly login?: LoginPlan | undefined;
  /** Take over uploaded files that another log has written. */
  readonly adopt?: boolean;
  /** Key of tokens and cursors, base64url; absent: made in the data directory. */
  readonly accessKey?: string | undefined;
  readonly operating: Operating;
  /** Memory for whole answers; 0: none are remembered. */
  readonly answerCacheBytes: number;
  /** Answers that caches may share get tags in a header; absent: they get none. */
  readonly tagging?: Omit<TaggingOptions, 'key' | 'position' | 'purged'> | undefined;
  /** Milliseconds that a read waits for a position of the log. */
  readonly minPositionWait: number;
  /** False: this process is never the leader, and forwards its writes. Default: it can become leader. */
  readonly mayLead?: boolean;
  /** Presence of this process for others of its log. */
  readonly presence: Pick<Presence, 'owner' | 'join'>;
  /** Address for the others. */
  readonly address: string;
  readonly fleetLog: FleetLog;
  /** Process that has locked the data directory. */
  readonly pid: number;
  /** Parts of the schema files that are not served as they are. */
  readonly schemaWarnings: readonly SchemaWarning[];
  /** A Strapi to follow. */
  readonly follow?: FollowSettings | undefined;
  /** Absent: none are delivered. */
  readonly webhooks?: { readonly limits: WebhookLimits; readonly report: WebhookReport };
  /** Caches that are purged of changes. */
  readonly purges?: (PurgeSettings & { readonly lifetime: Lifetime }) | undefined;
  /** A token whose answers are public; `refused` is called when they no longer are. */
  readonly cacheToken?: { readonly name: string; readonly refused: (problem: string) => void } | undefined;
  /**
   * Work while a generation of earlier content types serves, with documents outside the process. Absent: these are made before the
   * server answers.
   */
  readonly meanwhile?: Meanwhile;
  /**
   * For a process that takes another one's place and is to change the content types: resolves when it is to do so. Absent: it must
   * not change them.
   */
  readonly turn?: (() => Promise<void>) | undefined;
  readonly build?: OperatorContext['build'];
  readonly workersBeside?: OperatorContext['workers'];
};

export type FollowSettings = FollowOptions & Pick<FollowApiOptions, 'writes' | 'webhookSecret'>;

/** Receives news of the fleet. */
export type FleetLog = Pick<Settling, 'waiting'> &
  Pick<WriteSideOptions, 'report'> & {
    /** The graph's disk is full, or has space again. */
    readonly space: (what: 'full' | 'resumed', error?: unknown) => void;
  };

/** A content API over a data directory, in this process. */
export type Varve = ServedApi & {
  /** Fleet that knows where commands are carried out. */
  readonly fleet: Fleet;
  /** Steps down when no write is in flight; later writes are forwarded. */
  stepDown(): Promise<void>;
  /** Steps down for a process that takes this one's place with another generation. */
  yield(): Promise<void>;
  /**
   * Resolves when reads show everything that is in the log by now, or after a while; with false if another process has changed the
   * content types, and content since.
   */
  latest(): Promise<boolean>;
  /** Changes of content types that another process is to make and to serve. This one serves those in force. */
  readonly deferred: ContentStore['deferred'];
  /** Absent: answers to tokens are private. */
  readonly cacheToken: CacheToken | undefined;
  /** Context of operators' requests. */
  readonly operator: OperatorContext;
  /** True if no document was ever written. */
  readonly isNew: boolean;
  /** Rejects if an event could not be applied: the served content would be wrong from then on. Resolves on close. */
  readonly stopped: Promise<void>;
  close(): Promise<void>;
};

/**
 * Composition root: a log, a content graph and a read side in one process, which is the only one of its data directory
 * and can lead. Resolves when its content types are in force (see settleContentTypes) and reads can be answered; the
 * leader is determined after that. Throws a message if the directory cannot be used.
 */
export async function openVarve(options: VarveOptions): Promise<Varve> {
  const { space, defaultLocale, usersEnvelope, operating, fleetLog } = options;
  const plan = options.readSide;
  // First, as it may refuse: nothing has to be undone then.
  const assets = await openAssetStore(assetsAddress(options));
  const store = await openContentStore(options, plan);
  const { log, graph, generations, isNew } = store;
  const now = () => new Date().toISOString();
  const folder = logFolder(options);
  const key = await openAccessKey({ log, space, folder, given: options.accessKey });
  const membership = openMembership({ log, space, owner: options.presence.owner, key });
  options.presence.join(membership);
  const claimant = { log, space, owner: membership.owner, address: options.address, now, membership };
  const accessOptions = { log, space, key, now: Date.now, login: options.login !== undefined };
  const tokens = createTokenCommands({ ...accessOptions, author: requestOrOperator });
  const roles = createRoleCommands({ ...accessOptions, author: requestOrOperator });
  const access = await openAccessControl(accessOptions);
  const rules = { ...options.rules, cursorKey: cursorKey(key) };
  const people = createPeople(graph.reader);
  const signing = lateLogin({ ...options, key, access, people });
  await assertWholeLease(log, space, graph.epochAt(graph.position() + 1n));
  const own = ownTypes(graph, options);
  const settling = { claimant, definitions: own.definitions, waiting: fleetLog.waiting };
  const { pending } = store;
  if (pending !== undefined && options.meanwhile !== undefined) {
    await serveEarlier({
      ...options,
      meanwhile: options.meanwhile,
      store,
      pending,
      claimant,
      access,
      tokens,
      roles,
      assets,
      membership,
      bodyKey: bodyKey(key),
      ticketKey: ticketKey(key),
      rules,
      login: signing?.api,
      settle: (ahead) => settleContentTypes({ ...settling, graph: ahead }),
    });
  }
  if (options.turn === undefined && options.generation !== undefined)
    refuseOtherTypes(own.definitions, graph);
  const ahead = await changeAhead({ ...store, definitions: own.definitions });
  await options.turn?.();
  const isDeferred = store.deferred.length > 0;
  await settleContentTypes({ ...settling, graph: ahead.graph, isDeferred });
  await ahead.finish();
  const { registry, definitions }: OwnTypes = isDeferred ? typesOfGraph(graph) : own;
  if (isDeferred) generations.deferChange();
  const lease = await readLeaseUpTo(log, space);
  const readSide = await generations.openReadSide();
  const index = traceReadIndex(readSide.index, operating.tracing);
  const eventStore = observeEventStore(log, operating.metrics, operating.tracing);
  const freshness = createFreshness({ readSide, access, log, waitMs: options.minPositionWait });
  const view = createLeaseView(space, lease);
  const led = leadReadSide(readSide, options.generation !== undefined);
  const types = watchContentTypes(graph, definitions);
  const typesEnd = createTypesEnd(log);
  const foreignEvents = operating.metrics?.counter(METRICS.foreignEvents);
  const halt = createHalt({
    operating,
    stopped(event) {
      fleetLog.report({ kind: 'halted', event });
      void fleet.stepDown().then(led.follow);
    },
  });
  const room = createSpaceWatch((what, error) => {
    fleetLog.space(what, error);
    // No lease is claimed in this state, and reads need not wait for one.
    if (what === 'full' && fleet.epoch() === undefined) led.follow();
  });
  const report = (what: FleetReport): void => {
    room.heard(what);
    fleetLog.report(what);
  };
  const publicRights = () => access.authenticate(undefined);
  const cacheToken = options.cacheToken && createCacheToken({ ...options.cacheToken, access, registry });
  const notes =
    options.purges &&
    (await openPurgeNotes({
      data: options.data,
      log,
      registry,
      key: tagKey(key),
      rights: publicRights,
      position: graph.position,
      report: options.purges.report,
    }));
  const { positions, sink } = await watchChanges({
    graph,
    index: readSide.index,
    sink: freshness.sink,
    notes,
  });
  const projector = startProjector({
    eventStore,
    graph,
    readIndex: sink,
    endsBefore: typesEnd.isBehind,
    stopped: (event) => typesEnd.reached(event) || halt.stop(event),
    waiting: room.graphWaits,
    applied(events) {
      const foreign = events.filter(isForeign);
      foreignEvents?.add(foreign.length);
      if (foreign.length > 0) fleetLog.report({ kind: 'foreign', events: foreign });
      types.follow(events);
      view.follow(events);
    },
  });
  const owned = ownAssets(assets, assetsAddress(options), { log, space, adopt: options.adopt ?? false });
  const {
    commands,
    imports,
    library,
    fleet,
    follow: writer,
  } = openWriteSide({
    claimant,
    view,
    eventStore,
    graph,
    projector,
    index,
    visible: readSide.visible,
    led,
    registry,
    definitions,
    defaultLocale,
    assets: owned.store,
    own: owned.own,
    report,
    refuseWrites: room.refuseWithoutGraph,
    mayLead: options.mayLead,
    limits: {
      maxBytes: options.uploadLimit,
      accepted: options.uploadTypes,
      maxPixels: options.picturePixels,
    },
    pictures: {
      made: options.pictureFormats,
      resizer: createPictureResizer({ maxPixels: options.picturePixels }),
      left: options.leftWithoutFormats,
    },
    uploadName: uploadNames(key),
    userPasswords: options.login?.passwords?.scheme ?? 'argon2',
    roles: () => new Set(rolesOf(access.state().login).keys()),
  });
  await Promise.race([led.readable, led.done, fleet.done, projector.done]);
  const forwarding = openForwarding({
    fleet,
    membership,
    bodyKey: bodyKey(key),
    metrics: operating.metrics,
    refuseWrites() {
      halt.refuseWrites();
      if (fleet.leader().kind === 'nobody') room.refuseWrites();
    },
  });
  const userId = (documentId: string) => graph.reader.entries(USER_TYPE, documentId)[0]?.id;
  let purger: Purger | undefined;
  const apiFor = createApis({
    registry,
    index,
    defaultLocale,
    usersEnvelope,
    rules,
    observe: operating.observeQuery,
    delivery: {
      version: operating.version,
      positions,
      cacheBytes: options.answerCacheBytes,
      metrics: operating.metrics,
      cacheToken,
      tagging: options.tagging && {
        ...options.tagging,
        key: tagKey(key),
        position: () => index.position(),
        purged: options.purges && {
          lifetime: options.purges.lifetime,
          isPurging: () => purger?.isPurging() ?? false,
        },
      },
    },
    writes: { commands, library, userId },
  });
  signing?.with({ commands, forwarding, apiFor });
  const followed =
    options.follow === undefined
      ? undefined
      : followStrapi({
          follow: options.follow,
          registry,
          defaultLocale,
          space,
          graph,
          imports,
          writer,
          assets: owned.store,
          library,
          fleet,
          scratch: options.data,
          key: followKey(key),
        });
  watchFollower(operating.metrics, followed?.api.status);
  if (followed !== undefined) operating.readiness.copying(followed.isCopying);
  const webhooks = await (options.webhooks &&
    openWebhooks({
      ...options.webhooks,
      metrics: operating.metrics,
      data: options.data,
      log,
      space,
      graph,
      index: readSide.index,
      registry,
      defaultLocale,
      rules,
      fleet,
      shows: freshness.shows,
      commands: { key: webhookKey(key), author: requestOrOperator },
    }));
  const documents = documentsOf(readSide);
  purger =
    options.purges &&
    notes &&
    startPurger({
      ...options.purges,
      notes,
      fleet,
      shape: () => `${shapeOfShared(apiFor, access, cacheToken)} ${generations.store.live().number}`,
      metrics: operating.metrics,
      log,
      shows: freshness.shows,
      processes: documents?.answering,
    });
  // Else another process serves for now.
  if (options.generation === undefined) generations.enter();
  watchGenerations(operating.metrics, generations.store, options.mayLead);
  watchLead(operating, fleet);
  const head = createLogHead(log, 1);
  const applied = () => appliedUpTo(graph, index.position());
  registerGauges(operating, { log, index, registry, applied, documents: documents?.status });
  return {
    registry,
    access,
    tokens,
    roles,
    apiFor,
    ...(signing === undefined ? {} : { login: signing.api }),
    assets: { store: assets, index, space },
    freshness,
    operator: {
      data: options.data,
      space,
      log,
      graph,
      generations,
      server: { pid: options.pid },
      schemaWarnings: options.schemaWarnings,
      unreadable: halt.event,
      ...(options.build && { build: options.build }),
      workers: options.workersBeside,
      imports: {
        registry,
        defaultLocale,
        writer: imports,
        addFormats: library.addFormats,
        defineRoles: importRoles({ log, space }),
        takeAsset: (file) => importAsset(owned.store, file, library.keepNamed),
      },
      readSide: async () => readSide,
      ...(followed === undefined ? {} : { follow: followed.api.status }),
    },
    isNew,
    async latest() {
      const position = await head.next();
      const late = delay(options.minPositionWait, undefined, { ref: false });
      // A process that has stopped at an event shows what it has.
      await Promise.race([projector.applied(position).catch(() => {}), late]);
      await access.applied(position, options.minPositionWait);
      return typesEnd.showsAll(position);
    },
    deferred: store.deferred,
    cacheToken,
    fleet,
    forwarding,
    follow: followed?.api,
    webhooks: webhooks?.served,
    ticketKey: ticketKey(key),
    changes: createChangeFeed({
      log,
      space,
      logName: () => identityOfLog(log, space),
      index,
      registry,
      key: syncKey(key),
      ...freshness,
      graph,
    }),
    async stepDown() {
      await forwarding.idle();
      await webhooks?.stop();
      await fleet.stepDown();
    },
    async yield() {
      if (isDeferred) typesEnd.begin();
      await readSide.retire();
      await fleet.stepDown();
    },
    stopped: Promise.all([
      ...[projector.done, access.done, readSide.done, led.done, fleet.done, types.changed],
    ]).then(() => undefined),
    async close() {
      await followed?.close();
      await webhooks?.close();
      await purger?.close();
      await fleet.stepDown();
      types.close();
      led.close();
      await access.close();
      await projector.close();
      notes?.close();
      await readSide.close();
      await store.close();
    },
  };
}
