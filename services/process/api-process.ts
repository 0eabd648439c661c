import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { watchProgress } from '../../projections/index-writer/watch-progress.ts';
import { defined } from '../../shared/defined.ts';
import type { EventStore } from '../../shared/event-store/event-store.ts';
import { adviseOnUnreadable } from '../../shared/event-store/unreadable.ts';
import { upcast } from '../../shared/events/upcasters.ts';
import {
  createElasticsearchCluster,
  type ElasticsearchCluster,
} from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import type { ProgressStore } from '../../shared/read-index/index-progress.ts';
import type { ReadIndex } from '../../shared/read-index/read-index.ts';
import { followKey, webhookKey } from '../access/derived-keys.ts';
import { requestOrOperator } from '../command/current-author.ts';
import { typesInForce } from '../content-types/types-in-force.ts';
import { createClusterIndex } from '../elasticsearch/cluster-index.ts';
import { faultsNow } from '../elasticsearch/faults-now.ts';
import { nameOfLog } from '../elasticsearch/name-of-log.ts';
import { outlastTypes } from '../elasticsearch/outlast-types.ts';
import { progressInHistory } from '../elasticsearch/progress-in-history.ts';
import { progressOfLiveSet } from '../elasticsearch/progress-of-live-set.ts';
import { waitForIndices } from '../elasticsearch/wait-for-indices.ts';
import { sendToStrapi } from '../follow/send-to-strapi.ts';
import type { ForwardingOptions } from '../http/forwarding/forward-writes.ts';
import { createLeaderFeed } from '../http/forwarding/leader-feed.ts';
import { createLeaderHistory } from '../http/forwarding/leader-history.ts';
import { answerFromLeader } from '../http/forwarding/leader-past.ts';
import type { ServedApi } from '../http/served-api.ts';
import type { People } from '../login/people.ts';
import { traceReadIndex } from '../operating/observe-read-index.ts';
import { registerGauges } from '../operating/operating.ts';
import { createLogTimes } from '../past/log-times.ts';
import { createMoments } from '../past/moments.ts';
import { watchPurgingLeader } from '../purge/purging-leader.ts';
import { readState, type State } from '../state/state.ts';
import { checkHalt, checkLog } from '../state/watch-fleet.ts';
import { checkIndex, reachable } from '../state/watch-index.ts';
import { checkTypes } from '../state/watch-types.ts';
import { createLogHead } from '../stores/log-head.ts';
import { openAssetStore } from '../stores/open-asset-store.ts';
import { logFolder, openEventStore } from '../stores/open-event-store.ts';
import { openSynonyms } from '../synonyms/open-synonyms.ts';
import { createWebhookCommands } from '../webhooks/webhook-commands.ts';
import { WEBHOOK_LIMITS } from '../webhooks/webhook-limits.ts';
import { composeProcess } from './compose-process.ts';
import { reachAll } from './freshness.ts';
import { createHalt, type Halt } from './halt.ts';
import { type Identity, openCallers, openIdentity } from './identity.ts';
import { type Opened, openParts } from './opened.ts';
import type { ApiProcessOptions } from './process-options.ts';
import { trackLease } from './track-lease.ts';
import { WRITES_ELSEWHERE } from './writes-elsewhere.ts';

/** Milliseconds between two reads of the progress. Requests that wait for a position read it themselves. */
const PROGRESS_EVERY = 1_000;
const LOOK_MS = 100;

/**
 * Opens the process of `varve api`. It stores nothing: it reads from Elasticsearch, and the leader carries its writes out. Resolves when
 * reads can be answered: it waits for a leader that has made the indices. Rejects with a message after a permanent refusal.
 */
export function openApiProcess(options: ApiProcessOptions) {
  const {
    operating,
    content: { registry, definitions },
    caches,
    report,
    follow,
  } = options;
  return openParts(async (opened) => {
    const base = await openClusterBase(options, opened);
    const { identity, cluster, callers, synonyms } = base;
    const content = openClusterContent(options, base, opened);
    const halt = createHalt({
      operating,
      stopped: (event) => report.error({ position: String(event.position) }, adviseOnUnreadable(event)),
    });
    const running = opened(await trackLease(identity, definitions, halt));
    const { fleet, epoch } = running;
    const purging = opened(watchPurgingLeader(cluster.purgingLeader(base.name), caches.lifetime));
    const changed = outlastTypes(running.types.changed, cluster, { log: base.name, report });
    changed.catch(() => {});
    const writing = { fleet, refuseWrites: halt.refuseWrites, writes: WRITES_ELSEWHERE };
    const api = composeProcess({ ...base, options, content, writing, purged: purging.purged });
    if (caches.tagging) purging.start(() => ({ epoch: epoch(), shape: api.shape() }), caches.unwatched);
    lookNowAndThen(content.look, opened);
    watchApi(options, base, content.index, halt);
    return {
      ...api,
      changes: opened(createLeaderFeed(api.forwarding, content.freshness.position)),
      ...pastOfLeader(api.forwarding, identity.log, opened),
      webhooks: webhooksElsewhere(identity),
      ...shownByApi(options, base),
      /** Knows the process that carries commands out. */
      fleet,
      follow: follow && sendToStrapi({ follow, registry, fleet, key: followKey(identity.key) }),
      /** Rejects when the process cannot continue. Resolves on close. */
      // The caller handles it when it gets the process.
      stopped: Promise.all([callers.access.done, synonyms.done, running.done, changed]).then(() => undefined),
    };
  });
}

/** Returns the history and the pasts of the leader. This process finds moments in the log itself. */
function pastOfLeader(forwarding: ForwardingOptions, log: EventStore, opened: Opened) {
  const moments = createMoments(
    log,
    createLogTimes(log, () => []),
    Date.now,
  );
  return {
    history: opened(createLeaderHistory(forwarding)),
    past: { ...moments, ...opened(answerFromLeader(forwarding)) },
  };
}

/** Reports the state of the process at every scrape, and what is wrong with it. */
function watchApi(
  { operating, content: { registry }, worker: { processes } }: ApiProcessOptions,
  { identity: { log }, cluster }: ClusterBase,
  index: ReadIndex,
  halt: Halt,
): void {
  const gauges = { log, index, registry, behind: () => behind(log) };
  const { lagSeconds } = registerGauges(operating, { ...gauges, reachable: reachable(cluster.watch) });
  processes.serving({ position: index.position, lagSeconds, epoch: () => undefined });
  const indices = {
    watch: cluster.watch,
    faults: () => faultsNow(cluster),
    types: registry.contentTypes.size,
  };
  operating.conditions.watch(checkLog(log));
  operating.conditions.watch(processes.leaderAnswers);
  operating.conditions.watch(processes.keyIsShared);
  operating.conditions.watch(checkIndex(indices, true));
  operating.conditions.watch(checkHalt(halt.event));
}

/** Returns the log, the state of its processes, and releases, which only the leader knows. */
function shownByApi(options: ApiProcessOptions, base: ClusterBase) {
  const releases = options.follow === undefined ? {} : undefined;
  return { log: base.identity.log, releases, state: () => stateOfApi(options, base) };
}

/** Reads the state of the log's processes. The leader delivers webhooks and purges. */
function stateOfApi({ worker: { processes } }: ApiProcessOptions, { cluster }: ClusterBase): Promise<State> {
  return readState({
    processes: processes.list,
    cluster: cluster.watch,
    webhooks: () => null,
    purges: () => null,
  });
}

function lookNowAndThen(look: () => Promise<unknown>, opened: Opened): void {
  const timer = setInterval(() => void look().catch(() => {}), PROGRESS_EVERY).unref();
  opened({ close: () => clearInterval(timer) });
}

/** Parts of a process that reads a cluster which another process writes. */
type ClusterBase = Awaited<ReturnType<typeof openClusterBase>>;

/** Opens the parts for reads. Resolves when reads can be answered. */
async function openClusterBase(options: ApiProcessOptions, opened: Opened) {
  const { eventStore, space, reportTrouble } = options.data;
  const { registry } = options.content;
  const { login, accessKey } = options.access;
  const { processes, pid } = options.worker;
  const assets = await openAssetStore(options.data.assets);
  const log = opened(
    await openEventStore(eventStore, {
      space,
      decode: upcast,
      ...defined({ onTrouble: reportTrouble }),
    }),
  );
  const cluster = opened(createElasticsearchCluster({ ...options.elasticsearch, space, registry }));
  const folder = logFolder({ data: '', eventStore });
  const identity = await openIdentity({ log, space, folder, accessKey, owner: randomUUID() });
  opened(processes).join({ log, space, membership: identity.membership, pid, address: null });
  const found = await untilReadable(options, log, cluster);
  const callers = await openCallers(identity, { login, people: NO_PEOPLE, address: '' }, opened);
  const synonyms = opened(await openSynonyms(log, space));
  return { assets, cluster, identity, callers, synonyms, ...found };
}

/** A process without a data directory knows no users: only the leader reads them. */
const NO_PEOPLE: People = { byId: () => undefined, byEmail: () => undefined, byUsername: () => undefined };

/** Resolves with the name of the log, and the leader's progress, when there are indices for the content types of this process. */
async function untilReadable(
  { data: { space }, content: { definitions }, report, operating }: ApiProcessOptions,
  log: EventStore,
  cluster: ElasticsearchCluster,
): Promise<{ readonly name: string; readonly progress: ProgressStore }> {
  let over = () => {};
  await typesInForce({ log, space, definitions }, (types) => {
    report.warn({ types }, 'waiting for a leader with the content types of this process');
    over = operating.conditions.watch(checkTypes(types, undefined));
  });
  over();
  const name = await nameOfLog(log);
  const progress = progressInHistory(cluster.progress(name), log);
  const { signal } = new AbortController();
  const waiting = () => report.warn({}, 'waiting for the leader to make the indices');
  await waitForIndices({ cluster, log: name, progress, report, signal, waiting });
  return { name, progress };
}

/** Opens the content of the cluster, and the progress of the leader in writing documents. */
function openClusterContent(
  { content: { registry }, operating, fleet: { minPositionWait } }: ApiProcessOptions,
  { identity, cluster, callers, synonyms, progress }: ClusterBase,
  opened: Opened,
) {
  const watch = opened(
    watchProgress({ store: progressOfLiveSet(progress, cluster.indices), stale: undefined }),
  );
  const { position, reached } = watch;
  return {
    registry,
    index: traceReadIndex(
      createClusterIndex(cluster, { apply: async () => {}, position }),
      operating.tracing,
    ),
    freshness: {
      position,
      async beyond(wanted: bigint) {
        if (position() <= wanted) await delay(LOOK_MS, undefined, { ref: false });
        return position() > wanted;
      },
      head: createLogHead(identity.log).reaches,
      shows: (wanted: bigint) =>
        reachAll(wanted, minPositionWait, [reached, callers.access.applied, synonyms.applied]),
    },
    look: watch.look,
  };
}

/** Returns webhooks of a process that delivers none, because the leader does. */
function webhooksElsewhere({ log, space, key }: Identity): ServedApi['webhooks'] {
  const access = { log, space, key: webhookKey(key), now: Date.now, author: requestOrOperator };
  return { commands: createWebhookCommands(access), limits: WEBHOOK_LIMITS };
}

/**
 * Returns the lag for the readiness, which depends only on the log. Copies of a row that very many documents embed may lag minutes behind.
 * An old copy is better than no answer.
 */
async function behind(log: EventStore): Promise<number> {
  await log.lastPosition();
  return 0;
}
