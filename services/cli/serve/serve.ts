import { existsSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join, resolve } from 'node:path';
import { defined } from '../../../shared/defined.ts';
import { requireFreeDisk } from '../../../shared/free-disk.ts';
import type { Listener, ListenOptions } from '../../http/sockets/listen.ts';
import { WAIT_LIMITS } from '../../http/sockets/waiting-requests.ts';
import { createJobs } from '../../operator/jobs.ts';
import { runOperation } from '../../operator/operations.ts';
import { readStatus } from '../../operator/status.ts';
import { writtenFolders } from '../../process/content-store.ts';
import { openVarve, type Varve } from '../../process/open-varve.ts';
import { cancelUnusedCopy } from '../../rebuild/cancel-rebuild.ts';
import { connectSupervisor } from '../../supervisor/connect-supervisor.ts';
import { isPast } from '../../supervisor/past-child.ts';
import { reachableUrl } from '../output/reachable-url.ts';
import { startMessage } from '../output/start-message.ts';
import type { SettingOrigins } from '../settings/setting-origins.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { changeContentTypes } from './change-content-types.ts';
import { checkCacheToken } from './check-cache-token.ts';
import { findExampleRequest } from './example-request.ts';
import { leadingOptions } from './leading-options.ts';
import {
  type LeadingParts,
  openLeadingParts,
  readLeadingPlan,
  reportServing,
  watchRequests,
} from './leading-parts.ts';
import { listenWhileOpening } from './listen-while-opening.ts';
import { openOperating } from './open-operating.ts';
import { openPasts } from './open-pasts.ts';
import { setPublic, warnOfPublicWrites } from './public-rights.ts';
import { renewReadModel } from './renewal.ts';
import { searchPageOf, serveApp } from './serve-app.ts';
import { servePast } from './serve-past.ts';
import { serveReads } from './serve-reads.ts';
import { readServerPlan } from './server-plan.ts';
import { shownSettings } from './shown-settings.ts';
import { startNotes } from './start-notes.ts';
import { stopOnSignal } from './stop-on-signal.ts';
import { succeedWorker } from './succeed-worker.ts';
import { writeExamples } from './write-examples.ts';

/**
 * Runs `varve serve` and `varve project` in a worker. Resolves after the server serves and has printed its greeting. Ends with exit code 0
 * when its supervisor stops it. Rejects with a message if it cannot start.
 */
export async function serve(
  settings: ServeSettings,
  role: 'serve' | 'project',
  origins: SettingOrigins,
): Promise<void> {
  if (isPast()) return servePast(settings);
  const supervisor = await connectSupervisor();
  if (supervisor.follows !== undefined) return serveReads(settings, supervisor, supervisor.follows);
  const read = await readServerPlan(settings);
  const plan = await readLeadingPlan(read, { role, shown: shownSettings(read, role, origins) }, supervisor);
  const { logger, callers } = plan;
  const ports = await openOperating(settings, logger, supervisor, role);
  const signals = supervisor.onStop;
  const stop = stopOnSignal({
    logger,
    ports,
    callers,
    signals,
    drainSeconds: settings.operating.drainSeconds,
  });
  await stop.starting(async () => {
    try {
      const parts = await openLeadingParts(plan, ports, stop);
      const opened = await openServer(parts);
      attach(parts, opened);
      await renew(parts, opened);
      await answerRequests(parts, opened);
    } catch (error) {
      // After a signal the start has not failed: the worker is ending.
      if (!stop.isStopping()) supervisor.fail(error as Error);
      throw error;
    }
  });
}

/** Opened data and its listener. */
type OpenServer = { readonly varve: Varve; readonly listener: Listener };

/** Opens the data. Listens while it is loaded, and answers 503 until then. */
async function openServer(parts: LeadingParts): Promise<OpenServer> {
  const { settings, supervisor, leading, first } = parts;
  const where: ListenOptions = {
    host: settings.network.host,
    port: settings.network.port,
    socket: leading?.socket ?? supervisor.socket('api'),
    waits: supervisor.restarts > 0 ? WAIT_LIMITS : undefined,
    first,
    ...defined({ limits: leading?.limits }),
  };
  const [varve, listener] = await listenWhileOpening(where, async (listener) => {
    await leading?.start();
    const address = addressFor(parts, listener);
    return openVarve(leadingOptions(parts, () => takeTurn(parts, address), address));
  });
  return { varve, listener };
}

/** Returns the address at which other processes of the log reach this one. */
function addressFor({ leading, settings }: LeadingParts, listener: Listener): string {
  return leading?.address ?? settings.network.advertise ?? reachableUrl(listener.url);
}

/**
 * Says that this worker, which replaces another one, is ready. Resolves when it should serve. Rejects with a message if a disk is full: this
 * worker could not serve, and the other one would have stepped down in vain.
 */
async function takeTurn({ settings, shared, supervisor }: LeadingParts, address: string): Promise<void> {
  for (const folder of writtenFolders(settings.data)) requireFreeDisk(folder);
  const forMs = supervisor.succession?.enterMs ?? 0;
  await supervisor.ready({ owner: shared.fleet.presence.owner, address, forMs });
}

/** Connects the data with signals, operators and hand-overs. */
function attach(parts: LeadingParts, { varve, listener }: OpenServer): void {
  const { supervisor, operators, gate, logger, stop, shared, renewal, shown } = parts;
  stop.with(listener, varve);
  shared.fleet.presence.of(varve.fleet);
  operators.serve({ ...varve.operator, settings: shown });
  supervisor.onYield(async (next) => {
    shared.fleet.presence.leave();
    gate.close(async () => ((await varve.latest()) ? undefined : listener.left));
    await varve.yield(next);
  });
  supervisor.onRenew(() => {
    try {
      varve.operator.generations.refuseTakeOver();
    } catch {
      logger.error({}, RENEWED_BY_LEADER);
      return;
    }
    logger.info({}, 'the program that is installed now builds a new read model');
    renewal.start(varve.operator);
  });
}

/** Only the leader makes indices in Elasticsearch, and this worker cannot replace itself without a generation. */
const RENEWED_BY_LEADER =
  'this process is a standby and cannot replace its program while it serves: restart it. The leader can: send SIGHUP to its supervisor';

/** Begins to build a later generation: for other content types, or for this version of the projector. */
async function renew(parts: LeadingParts, { varve }: OpenServer): Promise<void> {
  const { settings, supervisor, ports, logger, stop, readSide, renewal } = parts;
  const { readiness } = ports.operating;
  if (varve.deferred.length > 0)
    return changeContentTypes(varve, {
      operating: ports.operating,
      logger,
      isStopping: stop.isStopping,
    });
  // After a rollback the operator wants an earlier version.
  if (supervisor.succession !== undefined) return;
  const { store } = varve.operator.generations;
  await cancelUnusedCopy({ data: settings.data.data, store, plan: readSide });
  renewReadModel(renewal, varve.operator, readiness, logger);
}

/** Answers requests from now on, and prints the greeting. */
async function answerRequests(parts: LeadingParts, { varve, listener }: OpenServer): Promise<void> {
  const { role, settings, paths, publicRights, logger, supervisor, ports, leading } = parts;
  const { succession, restarts } = supervisor;
  if (publicRights !== undefined && succession === undefined) await setPublic(varve, publicRights);
  if (succession === undefined && restarts === 0) warnOfPublicWrites(varve.access.state(), logger);
  checkCacheToken(varve.cacheToken, logger, succession === undefined && restarts === 0);
  ports.admit(varve.access);
  const past = openPasts({ settings, logger, varve, isAlone: succession === undefined });
  if (past !== undefined) parts.stop.first(past);
  await serveApp({
    role,
    settings,
    ...paths,
    served: varve,
    listener,
    logger,
    operating: ports.operating,
    past,
    operations: (name, form, signal) => runOperation(varve.operator, name, form, signal),
    jobs: createJobs(varve.operator),
    shows: {
      state: () => readStatus(varve.operator),
      log: varve.operator.log,
      rowsOf: (position) => varve.operator.graph.changesBetween(position - 1n, position),
      activity: ports.activity,
      slowQueries: ports.slowQueries,
      settings: parts.shown,
    },
    greet: (handler) => greet(parts, { varve, listener }, handler),
    watched: (handler) => watchRequests(parts, handler),
    ...leading?.shared(varve),
  });
}

/** Replaces the worker that served, or prints the greeting as the first worker. */
async function greet(
  parts: LeadingParts,
  { varve, listener }: OpenServer,
  handler: RequestListener,
): Promise<void> {
  const { supervisor, ports, stop, leading } = parts;
  const { succession } = supervisor;
  if (succession !== undefined)
    await succeedWorker(supervisor, succession, handler, {
      varve,
      metrics: ports.operating.metrics,
      isStopping: stop.isStopping,
      address: leading === undefined ? addressFor(parts, listener) : undefined,
      takeTurn: () => takeTurn(parts, addressFor(parts, listener)),
    });
  reportServing(parts, varve);
  if (supervisor.isGreeted) return;
  const message = await greeting(parts, listener.url, varve);
  supervisor.greeting();
  console.log(message);
}

async function greeting(parts: LeadingParts, url: string, varve: Varve): Promise<string> {
  const { role, settings, pages, contentTypes } = parts;
  const folder = join(settings.content.contentTypes, 'entries');
  const { development, login } = varve.access.state();
  const writes = development && settings.content.examples && varve.isNew && existsSync(folder);
  const examples = writes ? await writeExamples(url, folder, varve.registry) : undefined;
  return startMessage({
    url,
    data: resolve(settings.data.data),
    registry: varve.registry,
    tryUrl:
      development && role === 'serve'
        ? await findExampleRequest(url, varve.registry, varve.isNew && !writes)
        : undefined,
    searches: searchPageOf(settings) !== undefined,
    writesOnly: role === 'project',
    development,
    examples,
    pages,
    notes: startNotes(settings, contentTypes.codeNotes, login),
  });
}
