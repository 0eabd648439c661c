import { once } from 'node:events';
import { join } from 'node:path';
import { type ContentGraph, openContentGraph } from '../../../projections/graph/content-graph.ts';
import { changeAhead } from '../../../projections/graph/converted-copy.ts';
import type { EventStore } from '../../../shared/event-store/event-store.ts';
import { upcast } from '../../../shared/events/upcasters.ts';
import { packageVersion } from '../../../shared/package-version.ts';
import { isDiskFull } from '../../../shared/sqlite/failures.ts';
import { ownTypes } from '../../content-types/deferred-change.ts';
import { createPastApp } from '../../http/create-past-app.ts';
import { createApis } from '../../http/served-api.ts';
import { type Listener, listen } from '../../http/sockets/listen.ts';
import { createOperating } from '../../operating/operating.ts';
import { makePastGraph } from '../../past/make-past-graph.ts';
import { folderOfPasts } from '../../past/past-files.ts';
import type { FromPast, MakeSnapshot, PastTask, ServePast } from '../../past/past-task.ts';
import { LEAST_APART } from '../../past/snapshot-pace.ts';
import { keepSnapshot } from '../../past/snapshots.ts';
import { WRITES_ELSEWHERE } from '../../process/writes-elsewhere.ts';
import { embeddedReadSide } from '../../read-side/embedded-read-side.ts';
import { applyDueReleases } from '../../releases/apply-due.ts';
import { logAddress, openEventStore } from '../../stores/open-event-store.ts';
import { readSynonymState } from '../../synonyms/open-synonyms.ts';
import { readSynonyms } from '../settings/read-synonyms.ts';
import { requestRules, requiresRelations } from '../settings/request-rules.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { sizeOfLog } from './log-bytes.ts';
import { makePastFolder } from './past-folder.ts';
import { readWorkerPlan, type ServerPlan } from './server-plan.ts';

/**
 * Runs a process that answers reads with the content at a position, or makes a snapshot, with the settings of the server that started it. It ends
 * with that server, and has an index of its own, even if the server reads from Elasticsearch.
 */
export async function servePast(settings: ServeSettings): Promise<void> {
  const began = performance.now();
  const [task] = (await once(process, 'message')) as [PastTask];
  const plan = await readWorkerPlan(settings);
  try {
    if (task.kind === 'serve') await openPast(plan, task, began);
    else await makeSnapshot(plan, task);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    plan.logger.error({ err: error }, 'the disk is full');
    report({ kind: 'full' });
  }
}

async function openPast(plan: ServerPlan, task: ServePast, began: number): Promise<void> {
  const { settings, logger } = plan;
  const { data, space } = settings.data;
  const file = join(makePastFolder(data), 'graph.db');
  const log = await openEventStore(logAddress(settings.data), { space, decode: upcast, reads: 'follow' });
  const { from, position } = await makePastGraph({
    ...task,
    log,
    space,
    file,
    position: BigInt(task.position),
    mayBeLater: task.until !== undefined,
    snapshots: { folder: folderOfPasts(data), generation: task.generation },
    logBytes: sizeOfLog(settings.data),
    leastApart: LEAST_APART,
    report: (problem, error) => logger.warn({ err: error }, problem),
  });
  const graph = openContentGraph(file);
  await addReleases(plan, task, { log, graph, position });
  const { rows } = graph.size();
  if (rows > task.maxRows) {
    report({ kind: 'refused', rows });
    return;
  }
  const { url } = await serveGraph(plan, task, { log, graph, position });
  await log.close();
  const ms = Math.round(performance.now() - began);
  logger.info({ position: task.position, from: String(from), rows, ms }, 'a past is open');
  report({ kind: 'serving', address: url });
}

async function makeSnapshot({ settings }: ServerPlan, { live, generation }: MakeSnapshot): Promise<void> {
  const { data, space } = settings.data;
  const scratch = join(makePastFolder(data), 'snapshot.db');
  const log = await openEventStore(logAddress(settings.data), { space, reads: 'follow' });
  const logBytes = sizeOfLog(settings.data)(await log.lastPosition());
  await log.close();
  const where = { folder: folderOfPasts(data), generation };
  const isKept = await keepSnapshot(live, where, { scratch, logBytes });
  report({ kind: isKept ? 'made' : 'tooLarge' });
}

/** The graph has all events up to `position`. */
type Opened = { readonly log: EventStore; readonly graph: ContentGraph; readonly position: bigint };

/** Applies the releases that a preview shows. */
async function addReleases(
  { settings, project }: ServerPlan,
  { until }: ServePast,
  { log, graph, position }: Opened,
): Promise<void> {
  if (until === undefined) return;
  const registry = graph.registry();
  const environment = {
    graph: graph.reader,
    registry: () => registry,
    defaultLocale: settings.content.defaultLocale,
    strictRelations: requiresRelations(settings, project),
  };
  const range = { log, space: settings.data.space, position, until };
  await applyDueReleases(range, environment, (events, at) => changeAhead(graph, events, at));
}

/** Loads the index of a graph that does not change any more, and answers requests from it. */
async function serveGraph(
  { settings, logger, contentTypes, project }: ServerPlan,
  task: ServePast,
  { log, graph, position }: Opened,
): Promise<Listener> {
  const { strapi, content, elasticsearch, operating: measured } = settings;
  const { registry } = ownTypes(graph, contentTypes, false);
  const synonyms = readSynonyms(content.synonyms);
  const { queryTimeLimit } = elasticsearch;
  const plan = embeddedReadSide({ queryTimeLimit, synonyms, savedRows: Number.POSITIVE_INFINITY });
  const { index } = await plan.open(graph, log, { kind: 'live' });
  const version = packageVersion();
  const operating = createOperating({
    ...measured,
    metrics: false,
    tracing: undefined,
    logger,
    version,
    restarts: 0,
    role: 'serve',
  });
  const { state } = await readSynonymState(log, settings.data.space, { until: position });
  const apiFor = createApis({
    registry,
    index,
    defaultLocale: content.defaultLocale,
    usersEnvelope: strapi.usersEnvelope,
    rules: {
      ...requestRules(strapi, project, { logger, metrics: undefined }),
      cursorKey: Buffer.from(task.cursorKey, 'base64'),
    },
    observe: operating.observeQuery,
    delivery: { version },
    writes: WRITES_ELSEWHERE,
    additions: () => state.additions,
  });
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  listener.serve(await createPastApp({ logger, apiFor, registry, secret: task.secret }));
  return listener;
}

/** The server ends this process after each message but `serving`. */
function report(message: FromPast): void {
  process.send?.(message);
}
