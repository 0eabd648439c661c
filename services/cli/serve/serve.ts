import { existsSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { defined } from '../../../shared/defined.ts';
import { shareContents } from '../../../shared/sqlite/lock-data-directory.ts';
import { openOperatorListener } from '../../http/operator-listener.ts';
import { HOLD_LIMITS } from '../../http/sockets/hold-requests.ts';
import { type Listener, type ListenOptions, listen } from '../../http/sockets/listen.ts';
import { createRecentRequests } from '../../http/sockets/recent-requests.ts';
import { createRequestGate } from '../../http/sockets/request-gate.ts';
import { openVarve, type Varve, type VarveOptions } from '../../main.ts';
import { readStatus } from '../../operator/status.ts';
import type { Meanwhile } from '../../process/earlier-generation.ts';
import { readApiConfig } from '../../project/read-api-config.ts';
import { PURGE_LIMITS } from '../../purge/send-purges.ts';
import { endUnusedCopy } from '../../rebuild/run-rebuild.ts';
import { connectSupervisor } from '../../supervisor/connect-supervisor.ts';
import { createLogger } from '../output/create-logger.ts';
import { logFollower } from '../output/log-follower.ts';
import { logPurges } from '../output/log-purges.ts';
import { logTrouble } from '../output/log-trouble.ts';
import { logWebhooks } from '../output/log-webhooks.ts';
import { reachableUrl } from '../output/reachable-url.ts';
import { startMessage } from '../output/start-message.ts';
import { refuseOpenHost } from '../settings/access-log.ts';
import { type CorsOrigins, corsOrigins } from '../settings/cors-origins.ts';
import { lifetimeOf } from '../settings/delivery-settings.ts';
import { followSettings } from '../settings/follow-settings.ts';
import { purgeChoice } from '../settings/purge-settings.ts';
import { readContentTypes } from '../settings/read-content-types.ts';
import { chooseReadSide } from '../settings/read-side.ts';
import type { ServeSettings } from '../settings/settings.ts';
import { webhookLimits } from '../settings/webhook-settings.ts';
import { createBuilder, renewProgram, renewReadModel, startRebuild } from './builder.ts';
import { changeContentTypes } from './change-content-types.ts';
import { checkCacheToken } from './check-cache-token.ts';
import { findExampleRequest } from './example-request.ts';
import { type LeadingWorker, openLeadingWorker } from './leading-worker.ts';
import { readLoginPlan } from './login-plan.ts';
import { openOperating } from './open-operating.ts';
import { parsePublic, setPublic } from './public-rights.ts';
import { searchPageOf } from './search-page-of.ts';
import { serveApp } from './serve-app.ts';
import { serveReads } from './serve-reads.ts';
import { die, stopOnSignal } from './stop-on-signal.ts';
import { takePlace } from './take-place.ts';
import { workerOptions } from './worker-options.ts';
import { writeExamples } from './write-examples.ts';

/**
 * `varve serve` and `varve project`, in a worker: resolves after the server serves and has said so; ends with exit code
 * 0 when its supervisor tells it to stop. Rejects with a message if it cannot start.
 */
export async function serve(settings: ServeSettings, role: 'serve' | 'project' = 'serve'): Promise<void> {
  const supervisor = await connectSupervisor();
  if (supervisor.follows !== undefined) return serveReads(settings, supervisor, supervisor.follows);
  const logger = await createLogger(settings);
  const contentTypes = await readContentTypes(settings, logger);
  const project = readApiConfig(settings.contentTypes);
  const pages = corsOrigins(settings, logger);
  const paths = { apiPrefix: project?.prefix ?? '/api', corsOrigins: pages.origins };
  const publicRights = parsePublic(settings.public, contentTypes.registry);
  const login = readLoginPlan(settings, logger);
  await refuseOpenHost(settings, publicRights !== undefined, login !== undefined);
  const follow = followSettings(settings, paths.apiPrefix, logFollower(logger));
  const readSide = await chooseReadSide(settings, logger);
  const purges = purgeChoice(settings, role === 'serve' && readSide.outside !== undefined);
  const ports = await openOperating(settings, logger, supervisor);
  const operators = await openOperatorListener({
    secret: supervisor.secret,
    socket: supervisor.socket('operators'),
  });
  const builder = createBuilder(settings, contentTypes.definitions);
  let leading: LeadingWorker | undefined;
  const stop = stopOnSignal({
    logger,
    ports,
    others: [operators, { close: async () => leading?.close() }, builder],
    signals: supervisor.onStop,
    drainSeconds: settings.drainSeconds,
  });
  const { operating, first } = ports;
  const { succession, restarts } = supervisor;
  const recent = createRecentRequests();
  const gate = createRequestGate();
  let hasYielded = false;
  const basis = { logger, contentTypes, project, readSide, login, operating };
  const shared = await workerOptions(settings, supervisor, basis);
  const options = {
    ...shared,
    follow,
    async takeDirectory(directory: string) {
      await supervisor.lock(directory, operators.channel);
      return shareContents(directory, succession === undefined && restarts === 0);
    },
    generation: succession?.generation,
    build: builder.build,
    workersBeside: settings.workers === 1 ? undefined : supervisor.rotation,
    // Everything that this process answers with other content types is another request.
    handOver: (generation: number, changesTypes: boolean) =>
      supervisor.handOver({
        generation,
        changesTypes,
        recent: changesTypes ? [] : recent.list(),
        enterMs: ENTER_MS[enterKind(changesTypes, readSide)],
      }),
    turn: succession?.changesTypes === true ? supervisor.ready : undefined,
    webhooks: { limits: webhookLimits(settings), report: logWebhooks(logger) },
    purges: purges && {
      ...purges,
      limits: PURGE_LIMITS,
      report: logPurges(logger),
      lifetime: lifetimeOf(settings),
    },
    reportTrouble: logTrouble(logger),
    reportCheck: (finding: string) => logger.info({ finding }, `the event log's server: ${finding}`),
  };
  const { logLevel, logFormat, drainSeconds } = settings;
  const serving = (served?: Varve) =>
    supervisor.serving({ logLevel, logFormat }, drainSeconds * 1_000, served && leading?.followers(served));
  const watched = (handler: RequestListener) => {
    const guarded = recent.watch(gate.guard(handler));
    leading?.serve(guarded);
    return guarded;
  };
  const onEarlier = (listener: Listener): Meanwhile => ({
    async serve(served, operator, changes, leave) {
      logger.warn(
        { changes },
        'content types changed: reads continue as before, a new read model is being built',
      );
      operators.serve(operator);
      ports.admit(served.access);
      stop.with(listener, { close: leave });
      supervisor.onYield(leave);
      // The next API measures.
      const unmeasured = { ...operating, metrics: undefined };
      await serveApp({
        role,
        settings,
        ...paths,
        served,
        listener,
        logger,
        operating: unmeasured,
        watched,
        greet: async () => serving(),
      });
    },
    rebuild: (operator) => startRebuild(operator, logger),
  });
  const firstAnswers = (request: IncomingMessage, response: ServerResponse) =>
    first(request, response) || (!hasYielded && shared.presence.answer(request, response));
  leading = await openLeadingWorker(settings, supervisor, firstAnswers);
  const opening = openAndListen(options, onEarlier, leading, {
    host: settings.host,
    port: settings.port,
    socket: leading?.socket ?? supervisor.socket('api'),
    holds: restarts > 0 ? HOLD_LIMITS : undefined,
    first: firstAnswers,
    ...defined({ limits: leading?.limits }),
  });
  // Else their ports would keep the process.
  opening.catch((error: Error) => {
    supervisor.fail(error);
    return Promise.all([ports.close(), operators.close(), leading?.close()]);
  });
  const [varve, listener] = await opening;
  stop.with(listener, varve);
  shared.presence.of(varve.fleet);
  varve.stopped.catch((error: unknown) => die(logger, error));
  operators.serve(varve.operator);
  supervisor.onYield(async () => {
    // The next process says that it is the leader, at the same address.
    hasYielded = true;
    gate.close(async () => ((await varve.latest()) ? undefined : listener.left));
    await varve.yield();
  });
  supervisor.onRenew(() => renewProgram(varve.operator, logger));
  // After a rollback an earlier version is meant.
  if (varve.deferred.length > 0)
    changeContentTypes(varve, { readiness: operating.readiness, logger, isStopping: stop.isStopping });
  else if (succession === undefined) {
    const { store } = varve.operator.generations;
    await endUnusedCopy({ data: settings.data, store, plan: readSide });
    renewReadModel(varve.operator, operating.readiness, logger);
  }
  try {
    if (publicRights !== undefined && succession === undefined) await setPublic(varve, publicRights);
    checkCacheToken(varve.cacheToken, logger, succession === undefined && restarts === 0);
    ports.admit(varve.access);
    const status = () => readStatus(varve.operator);
    const { metrics } = operating;
    const greet = async (handler: RequestListener) => {
      if (succession !== undefined)
        await takePlace(supervisor, succession, handler, {
          varve,
          metrics,
          isStopping: stop.isStopping,
          address: leading === undefined ? (settings.advertise ?? reachableUrl(listener.url)) : undefined,
        });
      serving(varve);
      if (supervisor.isGreeted) return;
      const message = await greeting({ role, settings, pages }, listener.url, varve);
      supervisor.greeting();
      console.log(message);
    };
    const rotation = leading?.shared(varve);
    const app = { served: varve, listener, logger, operating, status, greet, watched, ...rotation };
    await serveApp({ role, settings, ...paths, ...app });
  } catch (error) {
    // A signal came before the greeting: its handler closes everything.
    if (stop.isStopping()) return;
    supervisor.fail(error as Error);
    await operators.close();
    await leading?.close();
    await listener.drain(0);
    await varve.close();
    await ports.close();
    throw error;
  }
}

/**
 * Limits for becoming leader in the place of another process. Indices outside have to show all that was written; changed content
 * types have rows converted.
 */
const ENTER_MS = { rows: 5_000, outside: 30_000, types: 300_000 };

function enterKind(
  changesTypes: boolean,
  { outside }: Pick<VarveOptions['readSide'], 'outside'>,
): keyof typeof ENTER_MS {
  if (changesTypes) return 'types';
  return outside === undefined ? 'rows' : 'outside';
}

/** Listens while the data is being loaded, and answers 503 until then. With the data in vain it listens no more. */
async function openAndListen(
  options: Omit<VarveOptions, 'address'> & Pick<ServeSettings, 'advertise'>,
  meanwhile: (listener: Listener) => Meanwhile,
  leading: LeadingWorker | undefined,
  where: ListenOptions,
): Promise<[Varve, Listener]> {
  const listener = await listen(where);
  try {
    await leading?.start();
    const address = leading?.address ?? options.advertise ?? reachableUrl(listener.url);
    return [await openVarve({ ...options, address, meanwhile: meanwhile(listener) }), listener];
  } catch (error) {
    await listener.drain(0);
    throw error;
  }
}

type Greeted = {
  readonly role: 'serve' | 'project';
  readonly settings: ServeSettings;
  readonly pages: CorsOrigins;
};

async function greeting({ role, settings, pages }: Greeted, url: string, varve: Varve): Promise<string> {
  const folder = join(settings.contentTypes, 'entries');
  const { development } = varve.access.state();
  const writes = development && settings.examples && varve.isNew && existsSync(folder);
  const examples = writes ? await writeExamples(url, folder, varve.registry) : undefined;
  return startMessage({
    url,
    data: resolve(settings.data),
    contentTypes: [...varve.registry.contentTypes.values()].filter((type) => !type.builtIn).length,
    tryUrl: development && role === 'serve' ? await findExampleRequest(url, varve.registry) : undefined,
    searches: searchPageOf(settings) !== undefined,
    writesOnly: role === 'project',
    development,
    examples,
    pages,
  });
}
