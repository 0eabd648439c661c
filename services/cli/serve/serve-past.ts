import { once } from 'node:events';
import { join } from 'node:path';
import { type ContentGraph, openContentGraph } from '../../../projections/graph/content-graph.ts';
import type { EventStore } from '../../../shared/event-store/event-store.ts';
import { upcast } from '../../../shared/events/upcasters.ts';
import { packageVersion } from '../../../shared/package-version.ts';
import { ownTypes } from '../../content-types/deferred-change.ts';
import { createPastApp } from '../../http/create-past-app.ts';
import { createApis } from '../../http/served-api.ts';
import { type Listener, listen } from '../../http/sockets/listen.ts';
import { createOperating } from '../../operating/operating.ts';
import { makePastGraph } from '../../past/make-past-graph.ts';
import type { FromPast, PastTask } from '../../past/past-task.ts';
import { WRITES_ELSEWHERE } from '../../process/writes-elsewhere.ts';
import { embeddedReadSide } from '../../read-side/embedded-read-side.ts';
import { logAddress, openEventStore } from '../../stores/open-event-store.ts';
import { readSynonyms } from '../settings/read-synonyms.ts';
import { requestRules } from '../settings/request-rules.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { makePastFolder } from './past-folder.ts';
import { readWorkerPlan, type ServerPlan } from './server-plan.ts';

/**
 * Runs a process that answers reads with the content at a position, with the settings of the server that started it. It ends with that
 * server, and has an index of its own, even if the server reads from Elasticsearch.
 */
export async function servePast(settings: ServeSettings): Promise<void> {
  const began = performance.now();
  const [task] = (await once(process, 'message')) as [PastTask];
  const plan = await readWorkerPlan(settings);
  const file = join(makePastFolder(settings.data.data), 'graph.db');
  const { space } = settings.data;
  const log = await openEventStore(logAddress(settings.data), { space, decode: upcast, reads: 'follow' });
  await makePastGraph({ ...task, log, space, file, position: BigInt(task.position) });
  const graph = openContentGraph(file);
  const { rows } = graph.size();
  if (rows > task.maxRows) {
    report({ kind: 'refused', rows }, () => process.exit(0));
    return;
  }
  const { url } = await serveGraph(plan, task, { log, graph });
  await log.close();
  const ms = Math.round(performance.now() - began);
  plan.logger.info({ position: task.position, rows, ms }, 'a past is open');
  report({ kind: 'serving', address: url });
}

type Opened = { readonly log: EventStore; readonly graph: ContentGraph };

/** Loads the index of a graph that does not change any more, and answers requests from it. */
async function serveGraph(
  { settings, logger, contentTypes, project }: ServerPlan,
  task: PastTask,
  { log, graph }: Opened,
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
  });
  const listener = await listen({ host: '127.0.0.1', port: 0 });
  listener.serve(await createPastApp({ logger, apiFor, registry, secret: task.secret }));
  return listener;
}

function report(message: FromPast, done: () => void = () => {}): void {
  process.send?.(message, undefined, undefined, done);
}
