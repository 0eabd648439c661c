import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { followProgress } from '../../projections/index-writer/follow-progress.ts';
import type { EventStore, StoredEvent, Trouble } from '../../shared/event-store/event-store.ts';
import { adviseOnUnreadable, stopsReaders, UnreadableEvent } from '../../shared/event-store/unreadable.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import { leaseStream } from '../../shared/fleet/lease-events.ts';
import {
  createElasticsearchCluster,
  type ElasticsearchCluster,
} from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { DenormaliseSettings } from '../../shared/read-index/elasticsearch/layout/document-layout.ts';
import type { ElasticsearchConnection } from '../../shared/read-index/elasticsearch/wire/client.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { TypeDefinition } from '../../shared/schema/type-definitions.ts';
import { openAccessControl } from '../access/access-control.ts';
import { openAccessKey } from '../access/access-key.ts';
import { type CacheToken, createCacheToken } from '../access/cache-token.ts';
import {
  bodyKey,
  cursorKey,
  followKey,
  syncKey,
  tagKey,
  ticketKey,
  webhookKey,
} from '../access/derived-keys.ts';
import { createRoleCommands } from '../access/role-commands.ts';
import { createTokenCommands } from '../access/token-commands.ts';
import { createChangeFeed } from '../changes/change-feed.ts';
import { requestOrOperator } from '../command/current-author.ts';
import { definitionStream } from '../content-types/append-definitions.ts';
import { typesInForce, watchTypes } from '../content-types/types-in-force.ts';
import type { TypesWatch } from '../content-types/types-watch.ts';
import type { Lifetime } from '../delivery/lifetimes.ts';
import type { TaggingOptions } from '../delivery/tagging.ts';
import { createClusterIndex } from '../elasticsearch/cluster-index.ts';
import { nameOfLog } from '../elasticsearch/name-of-log.ts';
import { outlastTypes } from '../elasticsearch/outlast-types.ts';
import { progressOfLiveSet } from '../elasticsearch/progress-of-live-set.ts';
import type { Report } from '../elasticsearch/report.ts';
import { waitForIndices } from '../elasticsearch/wait-for-indices.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { createLeaseView, type LeaseView, readLease } from '../fleet/lease-view.ts';
import { identityOfLog } from '../fleet/log-identity.ts';
import { openMembership } from '../fleet/membership.ts';
import { type SendToStrapiOptions, sendToStrapi } from '../follow/send-to-strapi.ts';
import { openForwarding } from '../http/forwarding/open-forwarding.ts';
import { createApis, type ServedApi } from '../http/served-api.ts';
import type { LoginPlan } from '../login/open-login.ts';
import type { People } from '../login/people.ts';
import { traceReadIndex } from '../operating/observe-read-index.ts';
import { type Operating, registerGauges } from '../operating/operating.ts';
import { reportAnswering } from '../purge/report-answering.ts';
import type { RequestRules } from '../query/plan-query.ts';
import { createLogHead } from '../stores/log-head.ts';
import { openAssetStore } from '../stores/open-asset-store.ts';
import { logFolder, openEventStore } from '../stores/open-event-store.ts';
import { createWebhookCommands } from '../webhooks/webhook-commands.ts';
import { WEBHOOK_LIMITS } from '../webhooks/webhook-limits.ts';
import { reachAll } from './freshness.ts';
import { createHalt, type Halt } from './halt.ts';
import { lateLogin } from './late-login.ts';
import { shapeOfShared } from './shape-of-shared.ts';
import { WRITES_ELSEWHERE } from './writes-elsewhere.ts';

export type ApiProcessOptions = {
  /** Address of the log. */
  readonly eventStore: string;
  readonly space: string;
  readonly registry: SchemaRegistry;
  readonly definitions: readonly TypeDefinition[];
  readonly connection: ElasticsearchConnection;
  readonly denormalise: DenormaliseSettings;
  /** See `createElasticsearchCluster`. */
  readonly rowCacheBytes: number;
  /** Location of uploaded files. */
  readonly assets: string;
  readonly accessKey: string | undefined;
  readonly defaultLocale: string;
  readonly usersEnvelope: boolean;
  readonly rules: RequestRules;
  readonly minPositionWait: number;
  /** Identity providers whose tokens are accepted; absent: none. */
  readonly login?: LoginPlan | undefined;
  /** A Strapi that the leader follows, and where writes go. */
  readonly follow?: SendToStrapiOptions['follow'] | undefined;
  /** See `VarveOptions`. */
  readonly cacheToken?: { readonly name: string; readonly refused: (problem: string) => void } | undefined;
  /** Answers that caches may share get tags in a header; absent: they get none. */
  readonly tagging?: Omit<TaggingOptions, 'key' | 'position' | 'purged'> | undefined;
  /** How long caches may serve answers that are no longer up to date. */
  readonly lifetime: Lifetime;
  readonly operating: Operating;
  readonly report: Report;
  /** Called for retried calls to the log's server. Default: writes them to standard error. */
  readonly reportTrouble?: (trouble: Trouble) => void;
};

/** A content API that stores nothing: it reads from Elasticsearch, and the leader carries its writes out. */
export type ApiProcess = ServedApi & {
  /** Knows the process that carries commands out. */
  readonly fleet: Pick<Fleet, 'leader' | 'changed'>;
  /** Absent: answers to tokens are private. */
  readonly cacheToken: CacheToken | undefined;
  /** Rejects when it cannot continue. Resolves on close. */
  readonly stopped: Promise<void>;
  close(): Promise<void>;
};

/** Read for metrics only: callers that wait for a position read it themselves. */
const PROGRESS_EVERY = 1_000;
const LOOK_MS = 100;

/**
 * Composition of `varve api`: no content graph, no data directory. Resolves when reads can be answered, which needs a
 * leader that has made the indices; waits while there is none. Rejects with a message after a permanent refusal.
 */
export async function openApiProcess(options: ApiProcessOptions): Promise<ApiProcess> {
  const { eventStore, space, registry, definitions, defaultLocale, usersEnvelope, operating } = options;
  const store = await openAssetStore(options.assets);
  const onTrouble = options.reportTrouble;
  const log = await openEventStore(eventStore, { space, decode: upcast, ...(onTrouble && { onTrouble }) });
  const { connection, denormalise, rowCacheBytes } = options;
  const cluster = createElasticsearchCluster({ connection, space, registry, denormalise, rowCacheBytes });
  const folder = logFolder({ data: '', eventStore });
  const key = await openAccessKey({ log, space, folder, given: options.accessKey });
  const membership = openMembership({ log, space, owner: randomUUID(), key });
  const accessOptions = { log, space, key, now: Date.now, login: options.login !== undefined };
  const name = await untilReadable(options, log, cluster);
  const access = await openAccessControl(accessOptions);
  const cacheToken = options.cacheToken && createCacheToken({ ...options.cacheToken, access, registry });
  const signing = lateLogin({ ...options, key, access, people: NO_PEOPLE, address: '' });
  const follower = followProgress({ store: progressOfLiveSet(cluster, name), stale: undefined });
  const halt = createHalt({
    operating,
    stopped: (event) => options.report.error({ position: String(event.position) }, adviseOnUnreadable(event)),
  });
  const following = await followLog(log, space, definitions, halt);
  const index = traceReadIndex(
    createClusterIndex(cluster, { apply: async () => {}, position: follower.position }),
    operating.tracing,
  );
  const changed = outlastTypes(following.types.changed, cluster, options.report);
  changed.catch(() => {});
  const webhookAccess = { log, space, key: webhookKey(key), now: Date.now };
  const freshness: ServedApi['freshness'] = {
    position: follower.position,
    async beyond(position) {
      while (follower.position() <= position) await delay(LOOK_MS, undefined, { ref: false });
    },
    head: createLogHead(log).reaches,
    shows: (position) => reachAll(position, options.minPositionWait, [follower.reached, access.applied]),
  };
  const apiFor = createApis({
    registry,
    index,
    defaultLocale,
    usersEnvelope,
    observe: operating.observeQuery,
    rules: { ...options.rules, cursorKey: cursorKey(key) },
    delivery: {
      version: operating.version,
      cacheToken,
      tagging: options.tagging && {
        ...options.tagging,
        key: tagKey(key),
        position: follower.position,
        purged: {
          lifetime: options.lifetime,
          // An answer ranked by words depends on documents that no tag names.
          isRanked: false,
          isPurging: () => reporter?.keeping() === 'kept',
          isSilent: () => reporter?.keeping() === 'silent',
        },
      },
    },
    writes: WRITES_ELSEWHERE,
  });
  const reporter =
    options.tagging &&
    reportAnswering({
      processes: cluster.answering(name),
      process: membership.owner,
      async shown() {
        await follower.look();
        const position = follower.position();
        await access.applied(position);
        return position;
      },
      shape: () => shapeOfShared(apiFor, access, cacheToken),
      failed: (error) => options.report.warn({ reason: String(error) }, UNREPORTED),
    });
  const timer = setInterval(() => void follower.look().catch(() => {}), PROGRESS_EVERY).unref();
  registerGauges(operating, { log, index, registry, behind: () => answers(log) });
  return {
    registry,
    access,
    ...(signing === undefined ? {} : { login: signing.api }),
    tokens: createTokenCommands({ ...accessOptions, author: requestOrOperator }),
    roles: createRoleCommands({ ...accessOptions, author: requestOrOperator }),
    apiFor,
    assets: { store, index, space },
    freshness,
    ticketKey: ticketKey(key),
    changes: createChangeFeed({
      ...freshness,
      log,
      space,
      logName: () => identityOfLog(log, space),
      index,
      registry,
      key: syncKey(key),
    }),
    webhooks: {
      commands: createWebhookCommands({ ...webhookAccess, author: requestOrOperator }),
      limits: WEBHOOK_LIMITS,
    },
    fleet: following.fleet,
    cacheToken,
    ...(options.follow && {
      follow: sendToStrapi({
        follow: options.follow,
        registry,
        fleet: following.fleet,
        key: followKey(key),
      }),
    }),
    forwarding: openForwarding({
      fleet: following.fleet,
      membership,
      bodyKey: bodyKey(key),
      metrics: operating.metrics,
      refuseWrites: halt.refuseWrites,
    }),
    stopped: Promise.all([access.done, following.done, changed]).then(() => undefined),
    async close() {
      clearInterval(timer);
      await reporter?.close();
      await access.close();
      await following.close();
      await follower.close();
      await cluster.close();
      await log.close();
    },
  };
}

const UNREPORTED = 'this process cannot report itself: caches keep none of its answers';

/** Users are the leader's to read. */
const NO_PEOPLE: People = { byId: () => undefined, byEmail: () => undefined, byUsername: () => undefined };

/** Resolves with the log's name when the indices are there for the content types of this process. */
async function untilReadable(
  { space, definitions, report }: ApiProcessOptions,
  log: EventStore,
  cluster: ElasticsearchCluster,
): Promise<string> {
  await typesInForce({ log, space, definitions }, (types) =>
    report.warn({ types }, 'waiting for a leader with the content types of this process'),
  );
  const name = await nameOfLog(log);
  const { signal } = new AbortController();
  const waiting = () => report.warn({}, 'waiting for the leader to make the indices');
  await waitForIndices({ cluster, log: name, report, signal, waiting });
  return name;
}

type Following = {
  readonly fleet: ApiProcess['fleet'];
  readonly types: TypesWatch;
  readonly done: Promise<void>;
  close(): Promise<void>;
};

/** Reads the leader and its content types from the log from now on. Ends before an event that cannot be read. */
async function followLog(
  log: EventStore,
  space: string,
  definitions: readonly TypeDefinition[],
  halt: Halt,
): Promise<Following> {
  // Before the lease is read: events appended in between arrive twice and are applied once.
  const start = await log.lastPosition();
  const lease = await readLease(log, space);
  const view = createLeaseView(space, lease);
  const types = watchTypes(definitions, lease.epoch);
  const closed = Promise.withResolvers<void>();
  const isOwn = (name: string) => name === leaseStream(space) || name.startsWith(definitionStream(space, ''));
  const subscription = log.subscribe(start, async (events: readonly StoredEvent[]) => {
    // Documents are the leader's to read: of their events only the sign of life counts here.
    const stop = events.find((event) => stopsReaders(event) && isOwn(event.stream));
    const readable = stop === undefined ? events : events.filter(({ position }) => position < stop.position);
    view.follow(readable);
    types.follow(readable);
    if (stop !== undefined) throw new UnreadableEvent(stop);
  });
  const done = subscription.done.catch((error: unknown) => {
    if (!(error instanceof UnreadableEvent)) throw error;
    halt.stop(error.event);
    return closed.promise;
  });
  return {
    types,
    fleet: { leader: () => leaderOf(view), changed: view.changed },
    done,
    async close() {
      closed.resolve();
      types.close();
      view.wake();
      await subscription.close();
    },
  };
}

function leaderOf(view: LeaseView): ReturnType<Fleet['leader']> {
  const { leader } = view.current();
  if (leader === undefined) return { kind: 'nobody' };
  return { kind: 'elsewhere', leader, term: view.term() };
}

/**
 * Readiness asks for the log alone: copies of a row that very many documents embed may be minutes behind, and an answer from
 * there is better than none.
 */
async function answers(log: EventStore): Promise<number> {
  await log.lastPosition();
  return 0;
}
