import { setTimeout as delay } from 'node:timers/promises';
import type { Successor } from '../../shared/fleet/lease.ts';
import { USER_TYPE } from '../../shared/schema/content-type.ts';
import { cursorKey, followKey, webhookKey } from '../access/derived-keys.ts';
import { requestOrOperator } from '../command/current-author.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { createEarlyLease } from '../fleet/require-lease.ts';
import type { FollowApi } from '../follow/follow-api.ts';
import { followStrapi } from '../follow/follow-strapi.ts';
import { watchFollower } from '../follow/watch-follower.ts';
import type { OperatorContext } from '../operator/operation.ts';
import { type Purger, startPurger } from '../purge/open-purger.ts';
import { checkReleases } from '../releases/check-releases.ts';
import { openReleases, type Releases } from '../releases/open-releases.ts';
import { checkDeliveries, checkFollower, checkPurges } from '../state/watch-delivery.ts';
import { createLogHead } from '../stores/log-head.ts';
import { openWebhooks, type Webhooks } from '../webhooks/open-webhooks.ts';
import { type ComposedApi, composeProcess, shapeOfShared } from './compose-process.ts';
import type { ContentStore } from './content-store.ts';
import { type Opened, openParts } from './opened.ts';
import { openOwnBase, openOwnContent } from './own-content.ts';
import { type OwnErasures, openOwnErasures } from './own-erasures.ts';
import { linkOf, type OwnParts, openTidied, ownOperator, type Tidied } from './own-operator.ts';
import { stateOfOwn, watchOwn } from './own-state.ts';
import type { VarveOptions } from './process-options.ts';
import { runContent } from './run-content.ts';
import { settleTypes } from './settle-types.ts';

/** A content API over a data directory, in this process. */
export type Varve = ComposedApi & {
  /** The fleet, which knows the process that carries out commands. */
  readonly fleet: Fleet;
  /** See OwnErasures. */
  readonly whenErased: OwnErasures['whenErased'];
  /** Ends deliveries and releases, and writes their progress to the log for the next leader. Never rejects. */
  endDuties(): Promise<void>;
  /** Steps down when no write is in flight and the duties have ended; later writes are forwarded. */
  stepDown(): Promise<void>;
  /** Steps down for a process that takes this one's place with another generation. */
  yield(successor: Successor | undefined): Promise<void>;
  /**
   * Resolves when reads show everything that is in the log now, or after a time limit. Resolves with false if another process has changed
   * the content types and then content.
   */
  latest(): Promise<boolean>;
  /** Changes of content types that another process will make and serve. This process serves the content types in force. */
  readonly deferred: ContentStore['deferred'];
  /** Context of operators' requests. */
  readonly operator: OperatorContext;
  /** True if no document was ever written. */
  readonly isNew: boolean;
  /** Rejects if an event could not be applied: the served content would be wrong from then on. Resolves on close. */
  readonly stopped: Promise<void>;
  close(): Promise<void>;
};

/**
 * Opens a log, a content graph and a read side in one process. It is the only process of its data directory, and can become leader.
 * Resolves when its content types are in force and reads can be answered; the leader is determined after that. Rejects with a message if
 * the directory cannot be used.
 */
export function openVarve(options: VarveOptions): Promise<Varve> {
  return openParts(async (opened) => {
    const base = await openOwnBase(options, opened);
    const lease = opened(createEarlyLease(base.claimant));
    const types = await settleTypes(options, base);
    const content = await openOwnContent(options, base, types, opened);
    const running = runContent(options, base, content, opened);
    lease.pass();
    const { fleet, projector } = running;
    await Promise.race([content.led.readable, content.led.done, fleet.done, projector.done]);
    const parts = { base, content, running };
    const { purges, ...api } = composeOwn(options, parts, opened);
    const tidied = openTidied(options, parts, opened);
    const follow = openFollowed(options, parts, opened);
    const webhooks = await openOwnWebhooks(options, parts, opened);
    const releases = await openOwnReleases(options, parts, opened);
    const { served: erasures, whenErased } = await openOwnErasures(options, parts, webhooks, opened);
    const endDuties = () => Promise.all([webhooks?.stop(), releases?.stop()]).then(() => {});
    // If a generation is given, another process still serves.
    if (options.fleet.generation === undefined) base.store.generations.enter();
    watchOwn(options, parts);
    return {
      ...api,
      follow,
      webhooks: webhooks?.served,
      releases: releases?.served,
      erasures,
      whenErased,
      fleet,
      ...endOf(options, parts, tidied),
      endDuties,
      async stepDown() {
        await api.forwarding.idle();
        await endDuties();
        await fleet.stepDown();
      },
      isNew: base.store.isNew,
      deferred: types.deferred,
      operator: {
        ...ownOperator(options, parts, { follow, tidied, releases, leader: linkOf(parts, api, opened) }),
        erase: erasures.erase,
        state: () => stateOfOwn(options, parts, { purges, webhooks }),
      },
    };
  });
}

/** Makes the API of a process with a data directory, and purges its answers from caches while it is the leader. */
function composeOwn(options: VarveOptions, parts: OwnParts, opened: Opened) {
  const { base, content, running } = parts;
  const { fleet, halt, diskWatch, commands, library, typesEnd } = running;
  const { reader } = base.store.graph;
  let purger: Purger | undefined;
  const api = composeProcess({
    options,
    identity: base.identity,
    callers: base.callers,
    synonyms: base.synonyms,
    searches: base.searches,
    assets: base.assets,
    content,
    writing: {
      fleet,
      isConverting: typesEnd.hasBegun,
      refuseWrites() {
        halt.refuseWrites();
        if (fleet.leader().kind === 'nobody') diskWatch.refuseWrites();
      },
      writes: {
        commands,
        library,
        userId: (documentId) => reader.entries(USER_TYPE, documentId)[0]?.id,
      },
    },
    purged:
      content.purging?.purged ??
      (options.caches.purges && {
        lifetime: options.caches.lifetime,
        isPurging: () => purger?.isPurging() ?? false,
      }),
  });
  const expected = () => ({ epoch: content.view.current().epoch, shape: api.shape() });
  const { tagging, unwatched } = options.caches;
  if (tagging) content.purging?.start(expected, unwatched);
  // Users can sign in, because this process can carry out commands.
  base.callers.login?.with({ commands, ...api });
  purger = openPurger(options, parts, api, opened);
  if (purger !== undefined) options.operating.conditions.watch(checkPurges(purger.waiting));
  return { ...api, purges: purger };
}

function openPurger(
  { caches: { purges }, operating }: VarveOptions,
  { base, content, running }: OwnParts,
  api: ComposedApi,
  opened: Opened,
): Purger | undefined {
  const { notes, documents, freshness, readSide } = content;
  if (purges === undefined || notes === undefined) return undefined;
  const { log, generations } = base.store;
  const shape = () =>
    [shapeOfShared(api), generations.store.live().number, documents?.repairs()].join(' ').trim();
  const purger = startPurger({
    ...purges,
    notes,
    fleet: running.fleet,
    shape,
    metrics: operating.metrics,
    log,
    applied: freshness.applied,
    documents: documents && {
      leader: documents.purgingLeader,
      shape: api.shape,
      shown: documents.shown,
      shows: readSide.shows,
    },
  });
  return opened(purger);
}

/** Follows a Strapi, if the options name one. */
function openFollowed(
  { follow, content: { defaultLocale }, data: { data, space }, operating }: VarveOptions,
  { base, content, running }: OwnParts,
  opened: Opened,
): FollowApi | undefined {
  if (follow === undefined) return undefined;
  const followed = opened(
    followStrapi({
      follow,
      registry: content.registry,
      defaultLocale,
      space,
      graph: base.store.graph,
      imports: running.imports,
      writer: running.follower,
      assets: running.assets,
      library: running.library,
      fleet: running.fleet,
      scratch: data,
      key: followKey(base.identity.key),
    }),
  );
  watchFollower(operating.metrics, followed.api.status);
  operating.readiness.copying(followed.isCopying);
  operating.conditions.watch(checkFollower(followed.api.status));
  return followed.api;
}

/** Delivers webhooks while this process is the leader, if the options say so. */
async function openOwnWebhooks(
  options: VarveOptions,
  { base, content, running }: OwnParts,
  opened: Opened,
): Promise<Webhooks | undefined> {
  if (options.webhooks === undefined) return undefined;
  const { log, graph } = base.store;
  const webhooks = await openWebhooks({
    ...options.webhooks,
    metrics: options.operating.metrics,
    data: options.data.data,
    log,
    space: options.data.space,
    graph,
    index: content.readSide.index,
    registry: content.registry,
    defaultLocale: options.content.defaultLocale,
    rules: { ...options.strapi.rules, cursorKey: cursorKey(base.identity.key) },
    fleet: running.fleet,
    shows: content.freshness.shows,
    commands: { key: webhookKey(base.identity.key), author: requestOrOperator },
  });
  options.operating.conditions.watch(checkDeliveries(webhooks.backlog));
  return opened(webhooks);
}

/** Carries out releases while this process is the leader, if the options say so. */
async function openOwnReleases(
  { content: { releases: report }, operating }: VarveOptions,
  { base, running }: OwnParts,
  opened: Opened,
): Promise<Releases | undefined> {
  if (report === undefined) return undefined;
  const { log } = base.store;
  const { fleet, environment, commands, together } = running;
  const { metrics } = operating;
  const releases = await openReleases({ log, fleet, environment, commands, together, report, metrics });
  operating.conditions.watch(checkReleases(releases.led));
  return opened(releases);
}

/** Creates the members about the end of the process: another process replaces it, or it stops by itself. */
function endOf(
  { fleet: { minPositionWait } }: VarveOptions,
  { base, content, running }: OwnParts,
  tidied: Tidied,
): Pick<Varve, 'latest' | 'yield' | 'stopped'> {
  const { led, readSide } = content;
  const { fleet, projector, types, typesEnd } = running;
  const { access } = base.callers;
  const head = createLogHead(base.store.log, 1);
  const ends = [
    projector.done,
    access.done,
    base.synonyms.done,
    readSide.done,
    led.done,
    fleet.done,
    types.changed,
  ];
  return {
    async latest() {
      const position = await head.next();
      const late = delay(minPositionWait, undefined, { ref: false });
      // A process that has stopped at an event shows the content that it has.
      await Promise.race([projector.applied(position).catch(() => {}), late]);
      await access.applied(position, minPositionWait);
      await base.synonyms.applied(position, minPositionWait);
      return typesEnd.showsAll(position);
    },
    async yield(successor) {
      await tidied.stop();
      if (content.deferred.length > 0) typesEnd.begin();
      await readSide.retire();
      await fleet.stepDown(successor);
    },
    // The caller handles it when it gets the process.
    stopped: Promise.all(ends).then(() => undefined),
  };
}
